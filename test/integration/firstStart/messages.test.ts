import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { AssessmentError, type ErrorKind, workerCrash } from '../../../src/core/errors.ts';
import { zipBundle } from '../../../src/core/findings/importExport/bundle.ts';
import { describeError } from '../../../src/editor/errors/errorMessages.ts';
import { answer, link, shownTexts } from '../dialogs.ts';
import { folder } from '../openFolders.ts';
import { call, signInEachTest } from '../signedIn.ts';

const hostile = '[Sign in](command:workbench.action.quit)';

describe('a message', () => {
  const service = signInEachTest();

  const testConnection = async (status: number, body?: object | string): Promise<string> => {
    const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? '');
    const reply = { kind: 'reply', status, body: text } as const;
    const undo = service().addFault({ match: { path: '/get-upload-url' }, before: reply });
    await call('testConnection');
    undo();
    return shownTexts().join('\n');
  };
  const assertPlain = (text: string, part: string): void => {
    assert.ok(text.includes(part), text);
    assert.doesNotMatch(text, link);
    assert.ok(text.replaceAll('\u2060', '').includes(hostile), 'it is read as it was written');
  };

  it('has the text of an error of the service as plain text', async () => {
    const text = await testConnection(403, { error: { code: 'no', message: hostile } });
    assertPlain(text, 'You don’t have permission to do this');
  });

  it('has the name of a file in an archive as plain text', async () => {
    const file = path.join(folder, 'bundle.zip');
    await writeFile(file, zipBundle([{ path: hostile, content: Buffer.from('{}') }]));
    answer({ showOpenDialog: () => [vscode.Uri.file(file)] });
    await call('importFindings');
    await rm(file);
    assertPlain(shownTexts().join('\n'), 'Nothing was imported');
  });

  it('F112 names address and organization if the service knows neither', async () => {
    const text = await testConnection(404);
    assert.match(
      text,
      /^Connection test failed \(service\): .* Check the path of the base URL and the organization ID/,
    );
    assert.doesNotMatch(text, /work: .*(token|organization)/);
  });

  it('F191 of a connection test believes a full storage from the service, and not from a page', async () => {
    assert.match(await testConnection(413, { message: 'Full.' }), /^The connection works\./);
    const ofProxy = await testConnection(413, '<html><title>Too large</title></html>');
    assert.match(
      ofProxy,
      /\nConnection test failed \(service\): .* which may come from a proxy\. Text of the page: Too large$/,
    );
  });
});

type Described = readonly [
  kind: ErrorKind,
  data: ConstructorParameters<typeof AssessmentError>[1],
  message: RegExp,
  /** Each button has its title, and the setting that it opens. */
  buttons?: readonly string[],
];

const page = { status: 200, origin: 'https://service.example', detail: 'Guest network' };
const of = (subject: string, detail?: string) => ({ subject, detail });
const log = ['Show Log'];

const sentences: Readonly<Record<string, readonly Described[]>> = {
  'F112 is a redirect by storage or an expired result, and not a setting of the user': [
    ['redirected', { status: 307, origin: 'https://files.example', subject: 'files' }, /^https:\/\/files\.example, the service’s file storage, redirects (?!.*(?:base URL|organization)).*307/],
    ['notFound', { status: 404, origin: 'https://service.example', subject: 'artifact' }, /^The service doesn’t have this result of the run(?!.*(?:base URL|organization))/],
  ],
  'F170 is a proxy or a sign-in page if a page came instead of an answer': [
    ['intercepted', page, /^A web page came back (?!.*Message from the service).* https:\/\/service\.example .*proxy or a network sign-in page.* base URL\. .*Guest network$/],
    ['intercepted', { ...page, subject: 'files' }, /, the service’s file storage (?!.*Message from the service).*proxy or a network sign-in page.*Nothing was confirmed or saved\. .*Guest network$/],
  ],
  'F191 is the status, and says that a page came with it': [
    ['serverError', { ...page, status: 502, isPage: true }, /^The service, or a proxy before it, reported an error \(502\)\..* is a web page, .*Guest network$/],
    ['addressRefused', { ...page, status: 403, isPage: true }, /refused the transfer \(403\)\..* is a web page, .*Guest network$/],
    ['serverError', { ...page, status: 502 }, /^The service reported an error \(502\)\..* Message from the service: Guest network$/],
  ],
  'F193 is the network, the proxy, or the certificate': [
    ['unsent', { origin: 'https://service.example', isUnsent: true }, /^https:\/\/service\.example can’t be reached\. /],
    ['unsent', { origin: 'https://service.example', detail: 'ECONNRESET' }, /^https:\/\/service\.example \(ECONNRESET\) can’t/],
    ['proxy', { origin: 'https://service.example', status: 502 }, /^The proxy refused .*service\.example \(HTTP 502\)\. /],
  ],
  'F198 is what a token command printed, without showing it, or a missing scheme': [
    ['tokenCommand', of('invented', 'quotes'), /^The token command invented printed text in quotation marks instead of a token\./],
    ['tokenCommand', of('invented', 'json'), / printed JSON instead of a token\./],
    ['tokenCommand', of('invented', 'null'), / printed an empty value \(such as “null”\) instead of a token\./],
    ['tokenCommand', of('invented', 'ENOENT'), /^The token command invented \(ENOENT\) failed\./],
    ['badSetting', of('baseUrl', 'noScheme'), /^The URL must begin with https:\/\/\. .*such as https:\/\//],
  ],
  'F155 has a button, since VS Code truncates a message without one': [
    ['badPairs', of('none'), /./, ['Show']],
    ['runGone', {}, /./, ['Show Runs']],
    ['diskFull', {}, /./, log],
    ['capacity', {}, /./, ['Delete Uploaded Source…']],
    ['noResult', {}, /./, ['Track Existing Run by ID…', 'Show Log']],
    ['unanswered', {}, /./, ['Track Existing Run by ID…']],
  ],
  'F31 is what to change before an upload: ignore rules, or the limit of the archive': [
    ['nothingToSend', {}, /^There is nothing to upload\. /, ['Preview Files to Upload']],
    ['archiveTooLarge', { limit: 1e6 }, /^The archive is larger than the limit of 1/, ['Open Settings whitebox.archive.maxSizeMB']],
  ],
  'F173 is in the findings file if the tool that wrote it failed, or if it is an old SARIF log': [
    ['malformedFindings', of('toolFailed', 'Out of time'), /^The tool that wrote .* failed.*\(Out of time\)$/],
    ['malformedFindings', of('noResults'), /without results\. The tool ran no checks/],
    ['malformedFindings', of('oldSarif'), /SARIF 1\.0 or a draft of 2\.0, which VS Code can’t read/],
  ],
}; // prettier-ignore

describe('the cause in an error message', () => {
  for (const [title, described] of Object.entries(sentences))
    it(title, () => {
      for (const [kind, data, expected, buttons] of described) {
        const { message, actions } = describeError(new AssessmentError(kind, data));
        assert.match(message, expected);
        if (buttons !== undefined)
          assert.deepEqual(
            actions.map(({ title: button, arguments: given = [] }) => [button, ...given].join(' ')),
            buttons,
          );
      }
    });

  it('F111 is a crashed worker and not the disk', () => {
    const { message } = describeError(workerCrash(Object.assign(new Error(), { code: 'MODULE_NOT_FOUND' })));
    assert.match(message, /background task of this extension stopped .*MODULE_NOT_FOUND/);
    assert.doesNotMatch(message, /storage/);
  });

  it('is lack of space on any file system; other errors are unexpected', () => {
    const full = describeError(new AssessmentError('diskFull')).message;
    const node = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    for (const error of [node, new vscode.FileSystemError(`Error: ${node.message}`)])
      assert.equal(describeError(error).message, full);
    const late = Object.assign(new Error('no'), { code: 'ECONNRESET' });
    assert.match(describeError(late).message, /^An unexpected error/);
  });
});
