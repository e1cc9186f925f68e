import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { toCoverage } from '../../../../src/core/upload/choose/coverage.ts';
import type { Assessment } from '../../../../src/core/run/state/newRun.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import type { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { NotUploaded } from '../../../../src/core/upload/choose/prepareUpload.ts';
import { uploadLabel } from '../../../../src/editor/runs/runLabels.ts';
import { describeSuspicions } from '../../../../src/editor/upload/checkAndPack.ts';
import { confirmUpload } from '../../../../src/editor/upload/uploadQuestion.ts';
import { storeManifest } from '../../../unit/run/storedManifest.ts';
import { invent } from '../../../unit/findings/shownFindings.ts';
import { storageVariable } from '../../events.ts';
import { answer, type ShownMessage, watchEachTest, watchMessages } from '../../dialogs.ts';
import { openFolders } from '../../openFolders.ts';
import { endedRun } from '../../storedRuns.ts';
import { setUserSettings } from '../../userSettings.ts';

const storage = process.env[storageVariable]!;
const place = { baseUrl: 'https://assessment.example.test/v1', organizationId: 'invented' };

describe('the question before an upload', () => {
  let folder: string;
  const messages = watchEachTest();

  before(async () => {
    [folder = ''] = await openFolders(1);
  });

  it('F79 shows control and bidi characters in names, and how many names are not shown', async () => {
    const name = 'a\u202Etxt.exe\nSize: 0';
    const suspicion = {
      path: name,
      kind: 'content',
      rule: 'invented',
      masked: 'k\u202E…',
      sha256: 'a',
    } as const;
    assert.equal(describeSuspicions([suspicion]), 'a\\u{202E}txt.exe\\u{000A}Size: 0  invented  k\\u{202E}…');
    const omitted = Array.from({ length: 12 }, (_, index) => `${name}${String(index)}`);
    const archive = {
      file: 'archive-0',
      type: 'zip' as const,
      bytes: 1,
      sha256: '',
      sourceBytes: 1,
      omitted,
    };
    const ended = endedRun({ id: 'invented', folder, ...place });
    const [target] = ended.targets;
    const coverage = toCoverage({ files: [], leftOut: [], unreadIndexes: [] }, 5, 200);
    const run = { ...ended, targets: [{ ...target!, name: 'b\u202Eb', archive, coverage }] };
    const selection = { root: folder, files: [], leftOut: [], bytes: 0, unreadByGit: [], unreadIndexes: [] };
    await ask(run, selection);
    const [{ text, detail }] = messages() as [ShownMessage];
    assert.match(text, / of b\\u\{202E\}b for assessment\?$/);
    assert.ok(!(text + detail).includes('\u202E'), detail);
    assert.match(detail, /are excluded:\n(?:a\\u\{202E\}txt\.exe\\u\{000A\}Size: 0\d\n){10}… and 190 more\n/);
  });

  it('F22 F23 F167 names unreadable files, and counts choices, secrets, and files that Git tracks separately', async () => {
    const ended = endedRun({ id: 'invented', folder, ...place });
    const [target] = ended.targets;
    const archive = { file: 'a', type: 'zip' as const, bytes: 1, sha256: '', sourceBytes: 1 };
    const rule = { source: 'gitignore', line: 1, pattern: 'x', widened: false } as const;
    const index = { file: '.git/index', problem: 'split' } as const;
    const leftOut = [
      ['locked.txt', { kind: 'unreadable', code: 'EBUSY' }],
      ['gone.txt', { kind: 'unreadable', code: 'vanished' }],
      ['swapped/', { kind: 'outsideRoot' }],
      ['chosen', { kind: 'choice' }],
      ['key', { kind: 'secret', suspicions: [] }],
      ['x', { kind: 'ignored', rule }],
      ['y', { kind: 'link' }],
      ['z', { kind: 'ignoredButTracked', rule }],
    ].map(([name, reason]) => ({ path: name, reason }));
    const files = [{ path: 'a', bytes: 0, mode: 0o644, isLfsPointer: true }] as const;
    const coverage = toCoverage({ files, leftOut: leftOut as NotUploaded[], unreadIndexes: [index] }, 1, 0);
    const run = { ...ended, targets: [{ ...target!, archive, coverage }] };
    const selection = {
      root: folder,
      files,
      leftOut,
      bytes: 0,
      unreadByGit: [],
      unreadIndexes: [],
    };
    await ask(run, selection);
    const detail = messages()[0]?.detail ?? '';
    assert.match(detail, /are excluded:\nlocked\.txt\ngone\.txt\nswapped\/\n\n/);
    assert.match(
      detail,
      /: 1 file; excluded by ignore files, settings, or type: 2; excluded as tracked by Git, but ignored: 1; tracked by Git, but ignored: unknown; excluded by your choice: 1; excluded as suspected secrets: 1; couldn’t be packaged: 3; Git LFS pointers without their content: 1\n/,
    );
  });

  for (const [answer, becomes] of [
    ['Upload and Start', ['close', 'start']],
    ['Show Files', ['show']],
    [undefined, []],
  ] as const)
    it(`says that nothing was sent, as the Upload Preview does, until the user agrees: ${answer ?? 'Cancel'}`, async () => {
      watchMessages(() => answer);
      const selection = {
        root: folder,
        files: [],
        leftOut: [],
        bytes: 0,
        unreadByGit: [],
        unreadIndexes: [],
      };
      assert.deepEqual(await ask(endedRun({ id: 'invented', folder, ...place }), selection), becomes);
    });

  it('says that the source is still there if an ended run could not delete it', () => {
    const run = endedRun({ id: 'invented', folder, ...place });
    const upload = { fileId: 'invented', state: 'reserved' as const, at: 0 };
    assert.equal(uploadLabel(run, { ...run.targets[0]!, upload }), 'not yet deleted from the service');
  });

  it('saves the archive without touching other files', async () => {
    const to = path.join(folder, '..', 'saved.tar.gz');
    const source = path.join(folder, 'b.js');
    await writeFile(source, 'two();\n');
    await writeFile(`${to}.part`, 'mine');
    await mkdir(path.join(storage, 'saving'), { recursive: true });
    const cutOff = path.join(storage, 'saving', '0.part');
    await writeFile(cutOff, 'of a window that was killed');
    await utimes(cutOff, 1, 1);
    answer({ showSaveDialog: () => vscode.Uri.file(to) });
    try {
      await vscode.commands.executeCommand('whitebox.saveArchive');
      assert.match(messages().at(-1)?.text ?? '', /^Saved /);
      assert.deepEqual(await readdir(path.join(storage, 'saving')), []);
      assert.equal(await readFile(`${to}.part`, 'utf8'), 'mine');
    } finally {
      for (const file of [source, to, `${to}.part`]) await rm(file, { force: true });
    }
  });

  it('F30 asks about a file that becomes a secret while the save dialog is open, and names it in warn mode', async () => {
    const to = path.join(folder, '..', 'saved.tar.gz');
    const source = path.join(folder, 'b.js');
    const token = `ghp_${'Ab1'.repeat(12)}`;
    answer({
      showSaveDialog: async () => {
        await writeFile(source, `const key = '${token}';\n`);
        return vscode.Uri.file(to);
      },
    });
    try {
      await writeFile(source, 'two();\n');
      await vscode.commands.executeCommand('whitebox.saveArchive');
      assert.deepEqual(
        messages().map(({ text }) => text),
        ['Suspected secrets in 1 file'],
      );
      const [{ detail, buttons }] = messages() as [ShownMessage];
      assert.match(detail, /^Nothing has been sent\. .+ are masked:\n\nb\.js:1 {2}github token {2}\S+…/);
      assert.ok(!detail.includes(token));
      for (const button of buttons) assert.ok(detail.includes(`“${button}”`), button);
      await assert.rejects(readFile(to), { code: 'ENOENT' });
      await setUserSettings({ 'whitebox.secrets.checkBeforeUpload': 'warn' });
      await writeFile(source, 'two();\n');
      await vscode.commands.executeCommand('whitebox.saveArchive');
      assert.match(
        messages().at(-1)?.text ?? '',
        /^Saved .*Suspected secrets [^:]*: b\.js:1 github token \S+…/,
      );
    } finally {
      for (const file of [source, to]) await rm(file, { force: true });
    }
  });

  it('describes the last complete run of the folder', async () => {
    const hourMs = 3_600_000;
    const root = await mkdtemp(path.join(tmpdir(), 'last-run-'));
    const sent = { 'a.js': '1', 'b.js': '2', 'c.js': '3' };
    const make = async (id: string, changes: object, files?: Record<string, string>): Promise<Run> => {
      await mkdir(path.join(root, id));
      if (files !== undefined) await storeManifest(path.join(root, id), 0, files);
      return { ...endedRun({ id, folder, ...place }), ...changes };
    };
    const took = { dispatchedAt: 0, exitedAt: 9 * hourMs + 60_000 };
    const selection = { root: folder, files: [], leftOut: [], bytes: 0, unreadByGit: [], unreadIndexes: [] };
    try {
      const known = [
        await make('now', { createdAt: 40 * hourMs }, { ...sent, 'b.js': 'changed', 'd.js': 'new' }),
        await make('tracked', { createdAt: 30 * hourMs }),
        await make('cancelled', { createdAt: 20 * hourMs, state: 'cancelled' }, sent),
        await make('last', { createdAt: 12 * hourMs, ...took }, sent),
        await make('before', { createdAt: 0 }, {}),
      ];
      await ask(known[0]!, selection, { known, root });
      await ask(known[4]!, selection, { known, root });
    } finally {
      await rm(root, { recursive: true });
    }
    const [first, second] = messages().map(({ detail }) => detail);
    const sentence =
      'The run from Jan 1 took 9h 1m and reported 2 findings. Since then, 2 of 4 files are new or changed.';
    assert.ok(first?.includes(sentence), first);
    assert.doesNotMatch(second ?? '', /The run of/);
  });

  it('requires a token command that is a list, and runs nothing before', async () => {
    await setUserSettings({
      'whitebox.baseUrl': place.baseUrl,
      'whitebox.organizationId': place.organizationId,
      'whitebox.tokenCommand': 'vendor print-token',
    });
    await vscode.commands.executeCommand('whitebox.testConnection');
    assert.match(messages()[0]?.text ?? '', /whitebox\.tokenCommand setting must be a list of the program/);
    assert.deepEqual(messages()[0]?.buttons, ['Open Settings']);
  });
});

/** Asks about the upload of one folder; returns the state of the Upload Preview. */
async function ask(
  run: Run,
  selection: unknown,
  { known = [], root = '' }: { known?: readonly Run[]; root?: string } = {},
): Promise<string[]> {
  const assessment = {
    ...place,
    language: 'english',
    targets: [{ ...run.targets[0], files: { selection } }],
  };
  const did: string[] = [];
  const deps = {
    runs: { all: () => known, folderOf: (id: string) => path.join(root, id) } as unknown as RunStore,
    findings: { read: (of: Run) => Promise.resolve({ run: of, shown: [invent(), invent()] }) },
    choices: { change: () => Promise.resolve(void did.push('include')) },
    preview: { show: () => void did.push('show'), close: () => void did.push('close') },
  };
  did.push((await confirmUpload(run, assessment as unknown as Assessment, [], deps)) ?? '');
  return did.filter((each) => each !== '');
}
