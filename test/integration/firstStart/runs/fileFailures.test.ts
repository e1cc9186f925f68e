import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { AssessmentError, type ErrorKind } from '../../../../src/core/errors.ts';
import { describeError } from '../../../../src/editor/errors/messages.ts';
import { storageVariable } from '../../events.ts';
import { answer, watchEachTest } from '../../dialogs.ts';
import { openFolders } from '../../openFolders.ts';
import { storeEndedRun } from '../../storedRuns.ts';

const storage = process.env[storageVariable]!;

describe('a file that cannot be written', () => {
  const id = '20260101000000-unwritten';
  const node = { kind: 'run', id };
  let folder: string;
  let to: string;
  const messages = watchEachTest();

  before(async () => {
    [folder = ''] = await openFolders(1);
    to = path.join(folder, '..', 'taken');
    await mkdir(to, { recursive: true });
    await writeFile(path.join(folder, 'a.js'), 'one();\n');
    const account = { baseUrl: 'https://invented.test/v1', organizationId: 'invented' };
    await storeEndedRun(storage, { id, folder, ...account }, { findings: [] });
    await vscode.commands.executeCommand('whitebox.refreshRuns');
  });

  beforeEach(() =>
    answer({ showSaveDialog: () => vscode.Uri.file(to), showQuickPick: ([first]: unknown[]) => first }),
  );

  after(async () => {
    await rm(path.join(folder, 'a.js'));
    await rm(to, { recursive: true });
    await rm(path.join(storage, 'runs', id), { recursive: true });
    await vscode.commands.executeCommand('whitebox.refreshRuns');
  });

  for (const command of ['exportCsv', 'saveReport', 'saveArchive'])
    it(`by ${command} is named with the system error code`, async () => {
      await vscode.commands.executeCommand(`whitebox.${command}`, node);
      const { text = '', buttons } = messages().at(-1) ?? {};
      assert.ok(text.startsWith(`${to} can’t be read or written (E`), text);
      assert.deepEqual(buttons, ['Show Log']);
    });

  it('is described with the next step, as is a failing token command', () => {
    const messageOf = (kind: ErrorKind, detail?: string): string =>
      describeError(new AssessmentError(kind, { subject: 'print', detail })).message;
    assert.match(
      messageOf('storage', 'EACCES'),
      /^print can’t be read or written \(EACCES\)\. Check that you have permission/,
    );
    assert.match(
      messageOf('tokenCommand', 'sameToken'),
      /^The token command printed the same token .* sign in again/,
    );
    assert.match(
      messageOf('tokenCommand', 'notOneLine'),
      /token command print isn’t a token\. The command must /,
    );
    assert.match(
      messageOf('tokenCommand', 'noAnswer'),
      /print didn’t finish within 30 seconds\. Run it in a terminal/,
    );
    assert.match(messageOf('tokenCommand', 'ENOENT'), /print failed \(ENOENT\)\. To see why, run it/);
    assert.match(messageOf('unsent', 'EMFILE'), /^This machine can’t open another connection .*\(EMFILE\)/);
    assert.match(messageOf('tokenCommand'), /print failed\. To see why, run it/);
  });

  it('names the service and not the settings if the service sent an address that is not used', () => {
    const of = (subject?: string) =>
      describeError(new AssessmentError('insecureUrl', { subject, detail: 'http://a' }));
    assert.deepEqual(
      of('files').actions.map(({ title }) => title),
      ['Show Log'],
    );
    assert.match(of('files').message, /^The service returned a URL for files/);
    assert.match(of().message, /^This URL isn’t used .*: http:\/\/a$/);
  });

  it('for lack of space is described as such on any file system; other errors are unexpected', () => {
    const full = describeError(new AssessmentError('diskFull')).message;
    const node = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    assert.equal(describeError(node).message, full);
    assert.equal(describeError(new vscode.FileSystemError(`Error: ${node.message}`)).message, full);
    const late = Object.assign(new Error('no'), { code: 'ECONNRESET' });
    assert.match(describeError(late).message, /^Something unexpected/);
  });
});
