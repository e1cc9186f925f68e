import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { systemClock as clock } from '../../../../src/core/ports.ts';
import { takeLease } from '../../../../src/core/run/disk/lease.ts';
import { startAssessment } from '../../../../src/editor/upload/startAssessment.ts';
import { silent } from '../../../silentLog.ts';
import { afterTest, messages, shownTexts, temporaryFolder, watchMessages } from '../../dialogs.ts';
import { partly, storeOfRuns } from '../../doubles.ts';
import { folder } from '../../openFolders.ts';
import { ofFolder, storage } from '../../runsInStorage.ts';
import { call, rowOf, signInEachTest } from '../../signedIn.ts';
import { storeLiveRun, storeUnsentRun } from '../../storedRuns.ts';
import { setUserSettings } from '../../userSettings.ts';

describe('starting an assessment', () => {
  const service = signInEachTest();

  before(async () => {
    await writeFile(path.join(folder, 'a.js'), 'one();\n');
  });

  const refused: readonly (readonly [string, unknown, RegExp])[] = [
    ['tokenCommand', 'vendor print-token', /whitebox\.tokenCommand setting must be a list of the program/],
    ['archive.format', 'tar.gz', /whitebox\.archive\.format .* tar_gz, zip\./],
    ['secrets.checkBeforeUpload', 'Off', /whitebox\.secrets\.checkBeforeUpload .* block, warn, off\./],
    [
      'runs.deleteSourceAfterRun',
      'false',
      /whitebox\.runs\.deleteSourceAfterRun setting must be true or false/,
    ],
    ['report.language', 'german', /whitebox\.report\.language .* auto, english, japanese\./],
    ['archive.maxSizeMB', '1 GB', /whitebox\.archive\.maxSizeMB setting must be a number of at least 1/],
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
      await call(name === 'tokenCommand' ? 'testConnection' : 'startAssessment');
      assert.equal(messages.shown.length, 1, shownTexts().join('\n'));
      assert.match(messages.shown[0]!.text, message);
      assert.deepEqual(messages.shown[0]!.buttons, ['Open Settings']);
      assert.deepEqual(service().requests, []);
    });

  for (const [what, content, remedy] of [
    ['is not UTF-8 text', 'customers/\n\0', 'The file isn’t UTF-8 text. Save it as UTF-8.'],
    [
      'is too large',
      '#\n'.repeat(1 << 20) + '#',
      'A rule file can have at most 20,000 rules and 2 MB. Shorten the file.',
    ],
  ] as const)
    it(`F168 and previewing stop, with what to do, while .whiteboxignore ${what}`, async () => {
      const file = path.join(folder, '.whiteboxignore');
      await writeFile(file, content);
      afterTest(() => rm(file));
      for (const command of ['startAssessment', 'previewUpload']) await call(command);
      const text = `VS Code can’t read ${file} and doesn’t know what to exclude. Nothing has been sent. ${remedy}`;
      assert.deepEqual(
        messages.shown.map((message) => [message.text, message.buttons]),
        [text, text].map((each) => [each, ['Open File']]),
      );
      assert.deepEqual(service().requests, []);
    });

  it('F209 that is cancelled while it selects files gives its claim back', async () => {
    const selecting = Promise.withResolvers<undefined>();
    const cancelled = new DOMException('cancelled', 'AbortError');
    let released = 0;
    const lost = new AbortController().signal;
    const deps = partly<Parameters<typeof startAssessment>[1]>({
      tracker: { claim: () => Promise.resolve({ lost, release: () => void (released += 1) }) },
      runs: storeOfRuns(),
      steps: {
        choicesOf: () => ({}),
        select: () => {
          selecting.resolve(undefined);
          return Promise.reject(cancelled);
        },
      },
    });
    const start = startAssessment(vscode.workspace.workspaceFolders!, deps);
    await selecting.promise;
    await assert.rejects(start, { name: 'AbortError' });
    assert.equal(released, 1);
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
      await call('startAssessment');
      assert.match(shownTexts()[0] ?? '', /^There are unsaved changes in 1 file\./);
    } finally {
      await notebook.save();
      await rm(file);
    }
  });

  it('again lists the files that the run before would not have sent', async () => {
    const id = '20260101000000-again';
    const csv = path.join(folder, 'customers.csv');
    await storeUnsentRun(storage, ofFolder(id, service()), { 'a.js': 'one();\n' });
    await writeFile(csv, 'left out before\n');
    afterTest(() => rm(csv));
    await call('refreshRuns');
    const { shown } = watchMessages(() => undefined);
    await call('retryUpload', rowOf(id));
    const asked = shown.find(({ isModal }) => isModal);
    assert.match(asked?.detail ?? '', /New since the run that you’re retrying: 1 file\ncustomers\.csv\n/);
    assert.ok(!asked?.detail.includes('a.js'));
  });

  it('again in a folder that another window has open sends nothing, and offers to open it', async () => {
    const elsewhere = await temporaryFolder();
    await mkdir(path.join(elsewhere, 'customers'));
    await writeFile(path.join(elsewhere, 'customers', 'list.csv'), 'left out there\n');
    const id = '20260101000000-unsent';
    await storeUnsentRun(storage, { ...ofFolder(id, service()), folder: elsewhere });
    await call('refreshRuns');
    const { shown } = watchMessages(({ isModal }) => (isModal ? 'Upload and Start' : undefined));
    await call('retryUpload', rowOf(id));
    // The exclusions of the folder are unknown here.
    assert.deepEqual(service().requests, []);
    assert.equal(shown.length, 1);
    assert.match(shown[0]!.text, /^To retry, open the folder/);
    assert.ok(shown[0]!.text.endsWith(elsewhere));
    assert.deepEqual(shown[0]!.buttons, ['Open Folder']);
  });
});

const busy = 'You’re already starting another run. First finish or cancel that start.';
const uploadQuestion = /^Upload \d+ files? of .* for assessment\?$/;

describe('starting an assessment, which costs credits', () => {
  const service = signInEachTest({ 'whitebox.notifications.level': 'attention' });

  beforeEach(async () => {
    await writeFile(path.join(folder, 'once.js'), 'once();\n');
  });

  afterEach(() => rm(path.join(folder, 'once.js')));

  const questions = (): string[] => messages.shown.flatMap(({ isModal, text }) => (isModal ? [text] : []));
  const notices = (): string[] => messages.shown.flatMap(({ isModal, text }) => (isModal ? [] : [text]));
  const dispatches = (): number =>
    service().requests.filter((request) => request.path.endsWith('/dispatch')).length;

  it('F47 asks once and starts one run for a double click', async () => {
    messages.press = ({ isModal }) => (isModal ? 'Upload and Start' : undefined);
    await Promise.all([call('startAssessment'), call('startAssessment')]);
    assert.equal(questions().length, 1, questions().join('\n'));
    assert.match(questions()[0]!, uploadQuestion);
    assert.deepEqual(notices(), [busy]);
    assert.deepEqual([dispatches(), service().runs().length], [1, 1]);
  });

  it('F47 is refused without a question while another window starts the same folder', async () => {
    await call('startAssessment');
    assert.equal(questions().length, 1, 'dismissed: the folder has been started before');
    const starting = path.join(storage, 'starting');
    const held = [];
    for (const name of await readdir(starting))
      held.push(await takeLease(path.join(starting, name, 'lease'), { clock, log: silent }));
    try {
      assert.ok(held.length > 0 && !held.includes(undefined));
      await call('startAssessment');
      assert.deepEqual([questions().length, notices()], [1, [busy]]);
      assert.deepEqual(service().requests, []);
    } finally {
      for (const lease of held) await lease?.release();
    }
    await call('startAssessment');
    assert.equal(questions().length, 2, 'and is not, once that window is done');
  });

  it('F47 asks first if the folder has a run already, also one of another window', async () => {
    await storeLiveRun(storage, ofFolder('20260101000000-live', service()));
    await call('startAssessment');
    const [{ text, detail, buttons } = { text: '' }, ...others] = messages.shown;
    assert.deepEqual(
      [text, buttons, others],
      ['A run for this folder is already in progress.', ['Start Another Run'], []],
    );
    assert.match(detail ?? '', /\. State: running\. Another run spends credits again\.$/);
    assert.ok(!service().requests.some(({ path: asked }) => asked.includes('input-files')));

    messages.press = ({ buttons: [first] }) => (first === 'Start Another Run' ? first : undefined);
    await call('startAssessment');
    assert.match(questions().at(-1)!, uploadQuestion);
    assert.equal(dispatches(), 0);
  });
});
