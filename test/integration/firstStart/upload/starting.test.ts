import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { type AssessmentService, startService } from '../../../service/assessmentService.ts';
import { storageVariable } from '../../events.ts';
import { type MessageWatch, type ShownMessage, watchMessages } from '../../dialogs.ts';
import { openFolders } from '../../openFolders.ts';
import { storeUnsentRun } from '../../storedRuns.ts';
import { signIn } from '../../signedIn.ts';
import { resetUserSettings, setUserSettings } from '../../userSettings.ts';

const storage = process.env[storageVariable]!;

describe('starting an assessment', () => {
  let folder: string;
  let service: AssessmentService;
  let messages: MessageWatch;
  let press: (message: ShownMessage) => string | undefined;

  before(async () => {
    [folder = ''] = await openFolders(1);
    await writeFile(path.join(folder, 'a.js'), 'one();\n');
    service = await startService();
  });

  beforeEach(async () => {
    press = () => undefined;
    messages = watchMessages((message) => press(message));
    await signIn(service);
  });

  afterEach(async () => {
    await resetUserSettings();
  });

  after(() => service.close());

  const texts = (): string[] => messages.shown.map(({ text }) => text);

  const refused: readonly (readonly [string, unknown, RegExp])[] = [
    ['archive.format', 'tar.gz', /whitebox\.archive\.format .* tar_gz, zip\./],
    ['secrets.checkBeforeUpload', 'Off', /whitebox\.secrets\.checkBeforeUpload .* block, warn, off\./],
    [
      'runs.deleteSourceAfterRun',
      'false',
      /whitebox\.runs\.deleteSourceAfterRun setting must be true or false/,
    ],
    ['report.language', 'german', /whitebox\.report\.language .* auto, english, japanese\./],
    ['archive.maxSizeMB', '1 GB', /whitebox\.archive\.maxSizeMB setting must be a number greater than 0/],
    ['archive.exclude', 'customers/', /whitebox\.archive\.exclude setting must be a list/],
    [
      'archive.includeNestedRepositories',
      'false',
      /whitebox\.archive\.includeNestedRepositories setting must be true or/,
    ],
    [
      'runs.retainLocalDays',
      '30 days',
      /whitebox\.runs\.retainLocalDays setting must be a number of at least 1/,
    ],
    ['notification.webhookEndpointIds', [''], /at most 100 IDs, none of them empty/],
  ];
  for (const [name, value, message] of refused)
    it(`is refused before a question while ${name} is ${JSON.stringify(value)}`, async () => {
      await setUserSettings({ [`whitebox.${name}`]: value });
      await vscode.commands.executeCommand('whitebox.startAssessment');
      assert.equal(messages.shown.length, 1, texts().join('\n'));
      assert.match(messages.shown[0]!.text, message);
      assert.deepEqual(messages.shown[0]!.buttons, ['Open Settings']);
      assert.deepEqual(service.requests, []);
    });

  const unreadable: readonly (readonly [string, string | Uint8Array, RegExp, readonly string[]])[] = [
    ['is not text', 'customers/\n\0', /It contains bytes that aren’t text\. Save it as UTF-8\.$/, ['Open File']],
    ['is too large', '#\n'.repeat(1 << 20) + '#', /It can have at most 20,000 rules and 2 MB\. Shorten it\.$/, ['Open File']],
  ]; // prettier-ignore
  for (const [what, content, remedy, buttons] of unreadable)
    it(`F168 and previewing stop, with what to do, while .whiteboxignore ${what}`, async () => {
      const file = path.join(folder, '.whiteboxignore');
      await writeFile(file, content);
      try {
        for (const command of ['whitebox.startAssessment', 'whitebox.previewUpload']) {
          await vscode.commands.executeCommand(command);
          const { text, buttons: shown } = messages.shown.at(-1)!;
          assert.ok(text.startsWith(`VS Code can’t read ${file}, so it doesn’t know what to exclude. Nothing has been sent. `), text); // prettier-ignore
          assert.match(text, remedy);
          assert.deepEqual(shown, buttons);
        }
        assert.equal(messages.shown.length, 2, texts().join('\n'));
        assert.deepEqual(service.requests, []);
      } finally {
        await rm(file);
      }
    });

  it('asks about unsaved notebooks, too', async () => {
    const file = path.join(folder, 'a.ipynb');
    await writeFile(file, JSON.stringify({ cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
    const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    try {
      const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, 'unsaved()', 'python');
      const edit = new vscode.WorkspaceEdit();
      edit.set(notebook.uri, [vscode.NotebookEdit.insertCells(0, [cell])]);
      assert.ok(await vscode.workspace.applyEdit(edit));
      assert.ok(notebook.isDirty);
      await vscode.commands.executeCommand('whitebox.startAssessment');
      assert.match(texts()[0] ?? '', /^There are unsaved changes in 1 file\./);
    } finally {
      await notebook.save();
      await rm(file);
    }
  });

  describe('again in a folder that another window has open', () => {
    const id = '20260101000000-unsent';
    let elsewhere: string;

    before(async () => {
      elsewhere = await mkdtemp(path.join(tmpdir(), 'elsewhere-'));
      await mkdir(path.join(elsewhere, 'customers'));
      await writeFile(path.join(elsewhere, 'customers', 'list.csv'), 'left out there\n');
      const { baseUrl, organizationId } = service;
      await storeUnsentRun(storage, { id, folder: elsewhere, baseUrl, organizationId });
      await vscode.commands.executeCommand('whitebox.refreshRuns');
    });

    after(async () => {
      await rm(path.join(storage, 'runs', id), { recursive: true });
      await vscode.commands.executeCommand('whitebox.refreshRuns');
      await rm(elsewhere, { recursive: true });
    });

    it('sends nothing, since its exclusions are unknown here, and offers to open it', async () => {
      press = ({ isModal }) => (isModal ? 'Upload and Start' : undefined);
      await vscode.commands.executeCommand('whitebox.retryUpload', { kind: 'run', id });
      assert.deepEqual(service.requests, []);
      assert.equal(messages.shown.length, 1, texts().join('\n'));
      assert.match(messages.shown[0]!.text, /^To retry, open the folder/);
      assert.ok(messages.shown[0]!.text.endsWith(elsewhere));
      assert.deepEqual(messages.shown[0]!.buttons, ['Open Folder']);
    });
  });
});
