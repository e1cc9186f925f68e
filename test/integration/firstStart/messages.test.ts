import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { AssessmentError, workerCrash } from '../../../src/core/errors.ts';
import { zipBundle } from '../../../src/core/findings/importExport/bundle.ts';
import { describeError } from '../../../src/editor/errors/messages.ts';
import { type AssessmentService, startService } from '../../service/assessmentService.ts';
import { answer, link, type MessageWatch, watchMessages } from '../dialogs.ts';
import { openFolders } from '../openFolders.ts';
import { signIn } from '../signedIn.ts';
import { resetUserSettings } from '../userSettings.ts';

const hostile = '[Sign in](command:workbench.action.quit)';

describe('external text in a message stays plain text', () => {
  let folder: string;
  let messages: MessageWatch;

  before(async () => {
    [folder = ''] = await openFolders(1);
  });

  beforeEach(() => {
    messages = watchMessages();
  });

  after(resetUserSettings);

  const assertPlain = (part: string): void => {
    const [{ text } = { text: '' }, ...others] = messages.shown;
    assert.ok(text.includes(part), text);
    assert.doesNotMatch(text, link);
    assert.equal(text.replaceAll('\u2060', '').includes(hostile), true, 'it is read as it was written');
    assert.deepEqual(others, []);
  };

  it('in an error of the service', async () => {
    const service: AssessmentService = await startService();
    const body = JSON.stringify({ error: { code: 'no', message: hostile } });
    service.addFault({ match: { path: '/get-upload-url' }, before: { kind: 'reply', status: 403, body } });
    await signIn(service);
    await vscode.commands.executeCommand('whitebox.testConnection');
    await service.close();
    assertPlain('You don’t have permission to do this');
  });

  it('in the name of a file in an archive', async () => {
    const file = path.join(folder, 'bundle.zip');
    await writeFile(file, zipBundle([{ path: hostile, content: Buffer.from('{}') }]));
    answer({ showOpenDialog: () => [vscode.Uri.file(file)] });
    await vscode.commands.executeCommand('whitebox.importFindings');
    await rm(file);
    assertPlain('Nothing was imported');
  });
});

describe('the cause in an error message', () => {
  let messages: MessageWatch;

  beforeEach(() => {
    messages = watchMessages();
  });

  after(resetUserSettings);

  it('F112 names address and organization if the service knows neither', async () => {
    const service: AssessmentService = await startService();
    service.addFault({ match: { path: '/get-upload-url' }, before: { kind: 'reply', status: 404 } });
    await signIn(service);
    await vscode.commands.executeCommand('whitebox.testConnection');
    await service.close();
    const [{ text } = { text: '' }] = messages.shown;
    assert.match(
      text,
      /^Connection test failed \(service\): .* Check the path of the base URL and the organization ID/,
    );
    assert.doesNotMatch(text, /work: .*(token|organization)/);
  });

  it('F112 is a redirect by storage or an expired result, and not a setting of the user', () => {
    const [redirected, gone] = [
      new AssessmentError('redirected', { status: 307, origin: 'https://files.example', subject: 'files' }),
      new AssessmentError('notFound', {
        status: 404,
        origin: 'https://service.example',
        subject: 'artifact',
      }),
    ].map((error) => describeError(error).message);
    assert.match(redirected ?? '', /^https:\/\/files\.example, the service’s file storage, redirects .*307/);
    assert.match(gone ?? '', /^This result of the run isn’t on the service/);
    for (const text of [redirected, gone]) assert.doesNotMatch(text ?? '', /base URL|organization/);
  });

  it('F170 is a proxy or a sign-in page if a page came instead of an answer', () => {
    const page = { status: 200, origin: 'https://service.example', detail: 'Guest network' };
    const [call, files] = [page, { ...page, subject: 'files' }].map(
      (data) => describeError(new AssessmentError('intercepted', data)).message,
    );
    assert.match(
      call ?? '',
      /^A web page came back .* https:\/\/service\.example .* base URL\. .*Guest network$/,
    );
    assert.match(
      files ?? '',
      /, the service’s file storage .*Nothing was confirmed or saved\. .*Guest network$/,
    );
    for (const text of [call, files]) {
      assert.match(text ?? '', /proxy or a network sign-in page/);
      assert.doesNotMatch(text ?? '', /Message from the service/);
    }
  });

  it('F155 has a button, since VS Code truncates a message without one', () => {
    const buttonsOf = (error: AssessmentError): unknown =>
      describeError(error).actions.map(({ title }) => title);
    assert.deepEqual(buttonsOf(new AssessmentError('badPairs', { subject: 'none' })), ['Show']);
    assert.deepEqual(buttonsOf(new AssessmentError('runGone')), ['Show Runs']);
    assert.deepEqual(buttonsOf(new AssessmentError('diskFull')), ['Show Log']);
  });

  it('F31 is what to change before an upload: ignore rules, or the limit of the archive', () => {
    const described = [{ kind: 'nothingToSend' }, { kind: 'archiveTooLarge', limit: 1e6 }] as const;
    const [nothing, tooLarge] = described.map(({ kind, ...data }) =>
      describeError(new AssessmentError(kind, data)),
    );
    assert.match(nothing?.message ?? '', /^There is nothing to upload\. /);
    assert.deepEqual(
      nothing?.actions.map(({ command }) => command),
      ['whitebox.previewUpload'],
    );
    assert.match(tooLarge?.message ?? '', /^The archive is larger than the limit of 1/);
    assert.deepEqual(
      tooLarge?.actions.map(({ arguments: [setting] = [] }) => setting),
      ['whitebox.archive.maxSizeMB'],
    );
  });

  it('F173 is in the findings file if the tool that wrote it failed, or if it is an old SARIF log', () => {
    const messageOf = (subject: string, detail?: string): string =>
      describeError(new AssessmentError('malformedFindings', { subject, detail })).message;
    assert.match(messageOf('toolFailed', 'Out of time'), /^The tool that wrote .* failed.*\(Out of time\)$/);
    assert.match(messageOf('noResults'), /without results: its tool didn’t look for any/);
    assert.match(messageOf('oldSarif'), /SARIF 1\.0, which VS Code can’t read/);
  });

  it('is a compressed response, and never its bytes as a message from the service', () => {
    for (const kind of ['serverError', 'intercepted'] as const) {
      const { message } = describeError(new AssessmentError(kind, { detail: 'Content-Encoding: gzip' }));
      assert.match(message, / The response is compressed \(gzip\), although this wasn’t requested\.$/);
    }
  });

  it('F111 is a crashed worker and not the disk', () => {
    const { message } = describeError(workerCrash(Object.assign(new Error(), { code: 'MODULE_NOT_FOUND' })));
    assert.match(message, /worker of this extension stopped .*MODULE_NOT_FOUND/);
    assert.doesNotMatch(message, /storage/);
  });

  it('F127 is on one line, with control characters made visible', async () => {
    const service: AssessmentService = await startService();
    const body = JSON.stringify({ message: 'a\u001b[2K\u202eb\r\nc' });
    service.addFault({ match: { path: '/get-upload-url' }, before: { kind: 'reply', status: 400, body } });
    await signIn(service);
    await vscode.commands.executeCommand('whitebox.testConnection');
    await service.close();
    const [{ text } = { text: '' }] = messages.shown;
    assert.ok(text.includes('Message from the service: a\\u{001B}[2K\\u{202E}b c'), text);
  });
});
