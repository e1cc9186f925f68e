import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { toCoverage } from '../../../../src/core/upload/choose/coverage.ts';
import type { Run } from '../../../../src/core/run/state/run.ts';
import type { RunStore } from '../../../../src/core/run/disk/runStore.ts';
import type { PackedRun } from '../../../../src/core/run/start/packRun.ts';
import type { NotUploaded } from '../../../../src/core/upload/choose/prepareUpload.ts';
import { uploadLabel } from '../../../../src/editor/runs/runLabels.ts';
import { describeSuspicions, type Prepared } from '../../../../src/editor/upload/checkAndPack.ts';
import { confirmUpload } from '../../../../src/editor/upload/uploadQuestion.ts';
import { newHead } from '../../../../src/core/findings/result/result.ts';
import { writeResult } from '../../../../src/core/findings/result/resultFile.ts';
import { storeManifest, toUploaded } from '../../../unit/findings/result/storedManifest.ts';
import { afterTest, answer, messages, type ShownMessage, temporaryFolder } from '../../dialogs.ts';
import { partly } from '../../doubles.ts';
import { folder } from '../../openFolders.ts';
import { storage } from '../../runsInStorage.ts';
import { call } from '../../signedIn.ts';
import { endedRun, inventedAccount } from '../../storedRuns.ts';
import { setUserSettings } from '../../userSettings.ts';

const ended = endedRun({ id: 'invented', folder: '/invented/shop', ...inventedAccount });
const [target] = ended.targets;
const rule = { source: 'gitignore', line: 1, pattern: 'x' } as const;
const archive = { file: 'a', type: 'zip' as const, bytes: 1, sha256: '', sourceBytes: 1 };

describe('the question before an upload', () => {
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
    const coverage = toCoverage({ files: [], excluded: [], unreadIndexes: [] }, 5, 200);
    const run = {
      ...ended,
      targets: [{ ...target!, name: 'b\u202Eb', archive: { ...archive, omitted }, coverage }],
    };
    await ask(run);
    const [{ text, detail }] = messages.shown as [ShownMessage];
    assert.match(text, / of b\\u\{202E\}b for assessment\?$/);
    assert.ok(!(text + detail).includes('\u202E'), detail);
    assert.match(detail, /are excluded:\n(?:a\\u\{202E\}txt\.exe\\u\{000A\}Size: 0\d\n){10}… and 190 more\n/);
  });

  it('F22 F23 F167 names unreadable files, and counts choices, secrets, and files that Git tracks separately', async () => {
    const index = { file: '.git/index', problem: 'split' } as const;
    const excluded = [
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
    const coverage = toCoverage({ files, excluded: excluded as NotUploaded[], unreadIndexes: [index] }, 1, 0);
    const run = { ...ended, targets: [{ ...target!, archive, coverage }] };
    await ask(run, { files, excluded });
    const detail = messages.shown[0]?.detail ?? '';
    assert.match(detail, /are excluded:\nlocked\.txt\ngone\.txt\nswapped\/\n\n/);
    assert.match(
      detail,
      /: 1 file; excluded by ignore files, settings, or type: 2; ignored although tracked by Git, and excluded: 1; ignored files that Git tracks: unknown; excluded by your choice: 1; excluded as suspected secrets: 1; couldn’t be packaged: 3; Git LFS pointers without their content: 1\n/,
    );
  });

  for (const [pressed, becomes] of [
    [['Upload and Start'], ['close', 'start']],
    [['Show Files'], ['show']],
    [[], []],
  ] as const)
    it(`says that nothing was sent, as the Upload Preview does, until the user agrees: ${pressed[0] ?? 'Cancel'}`, async () => {
      messages.press = () => pressed[0];
      assert.deepEqual(await ask(ended), becomes);
    });

  it('says that the source is still there if an ended run could not delete it', () => {
    const upload = { fileId: 'invented', state: 'reserved' as const, at: 0 };
    assert.equal(uploadLabel(ended, { ...target!, upload }), 'not yet deleted from the service');
  });

  it('saves the archive without touching other files', async () => {
    const to = path.join(folder, '..', 'saved.tar.gz');
    const source = path.join(folder, 'b.js');
    await writeFile(source, 'two();\n');
    await writeFile(`${to}.part`, 'mine');
    answer({ showSaveDialog: () => vscode.Uri.file(to) });
    for (const file of [source, to, `${to}.part`]) afterTest(() => rm(file, { force: true }));
    await call('saveArchive');
    assert.match(messages.shown.at(-1)?.text ?? '', /^Saved /);
    assert.deepEqual(await readdir(path.join(storage, 'saving')), []);
    assert.equal(await readFile(`${to}.part`, 'utf8'), 'mine');
  });

  it('F30 asks about a file that becomes a secret while the save dialog is open, and names it in warn mode', async () => {
    const to = path.join(folder, '..', 'saved.tar.gz');
    const source = path.join(folder, 'b.js');
    const token = `ghp_${'c3D4'.repeat(9)}`;
    answer({
      showSaveDialog: async () => {
        await writeFile(source, `const key = '${token}';\n`);
        return vscode.Uri.file(to);
      },
    });
    for (const file of [source, to]) afterTest(() => rm(file, { force: true }));
    await writeFile(source, 'two();\n');
    await call('saveArchive');
    const [{ text, detail, buttons }, ...others] = messages.shown as [ShownMessage];
    assert.deepEqual([text, others], ['Suspected secrets in 1 file', []]);
    assert.match(detail, /^Nothing has been sent\. .+ are masked:\n\nb\.js:1 {2}github token {2}\S+…/);
    assert.ok(!detail.includes(token));
    for (const button of buttons) assert.ok(detail.includes(`“${button}”`), button);
    await assert.rejects(readFile(to), { code: 'ENOENT' });
    await setUserSettings({ 'whitebox.secrets.checkBeforeUpload': 'warn' });
    await writeFile(source, 'two();\n');
    await call('saveArchive');
    assert.match(
      messages.shown.at(-1)?.text ?? '',
      /^Saved .*Suspected secrets [^:]*: b\.js:1 github token \S+…/,
    );
  });

  it('describes the last complete run of the folder', async () => {
    const hourMs = 3_600_000;
    const root = await temporaryFolder();
    const sent = { 'a.js': '1', 'b.js': '2', 'c.js': '3' };
    const make = async (id: string, changes: object, files?: Record<string, string>): Promise<Run> => {
      await mkdir(path.join(root, id));
      if (files !== undefined) await storeManifest(path.join(root, id), 0, files);
      const facts = {
        id,
        facts: '',
        fileStamp: '',
        before: [],
        skipped: [],
        file: '',
        knowsUploaded: [],
        unlisted: 0,
      };
      const head = newHead({ ...facts, counts: { findings: 2, absent: 0 } });
      await writeResult(path.join(root, id), { head, findings: [], absent: [] });
      return { ...ended, id, ...changes };
    };
    const took = { dispatchedAt: 0, exitedAt: 9 * hourMs + 60_000 };
    const known = [
      await make('now', { createdAt: 40 * hourMs }),
      await make('tracked', { createdAt: 30 * hourMs }),
      await make('cancelled', { createdAt: 20 * hourMs, state: 'cancelled' }, sent),
      await make('last', { createdAt: 12 * hourMs, ...took }, sent),
      await make('before', { createdAt: 0 }, {}),
    ];
    const files = { ...sent, 'b.js': 'changed', 'd.js': 'new' };
    await ask(known[0]!, {}, { known, root, files });
    await ask(known[4]!, {}, { known, root });
    const [first, second] = messages.shown.map(({ detail }) => detail);
    const sentence =
      'The run from Jan 1 took 9h 1m and reported 2 findings. Since then, 2 of 4 files are new or changed.';
    assert.ok(first?.includes(sentence), first);
    assert.doesNotMatch(second ?? '', /The run of/);
  });
});

/** Asks about the upload of one folder; returns the state of the Upload Preview. */
async function ask(
  run: Run,
  selected: object = {},
  {
    known = [],
    root = '',
    files = {},
  }: { known?: readonly Run[]; root?: string; files?: Record<string, string> } = {},
): Promise<string[]> {
  const empty = {
    root: '/invented/shop',
    files: [],
    excluded: [],
    bytes: 0,
    unreadRules: [],
    unreadIndexes: [],
  };
  const selection = { ...empty, ...selected };
  const prepared = partly<Prepared>({ selection, undecided: [] });
  const manifests = [Object.keys(files).flatMap((name) => toUploaded(name, files, '') ?? [])];
  const packed = partly<PackedRun>({ run, manifests });
  const did: string[] = [];
  const deps = {
    runs: partly<RunStore>({ all: () => known, folderOf: (id: string) => path.join(root, id) }),
    choices: { change: () => Promise.resolve(void did.push('include')) },
    preview: { show: () => void did.push('show'), close: () => void did.push('close') },
  };
  did.push((await confirmUpload(packed, [prepared], deps)) ?? '');
  return did.filter((each) => each !== '');
}
