import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { parseFindings } from '../../../src/core/findings/parse/parseFindings.ts';
import { keptPath } from '../../../src/core/findings/location/uploadedFiles.ts';
import type { ShownFinding } from '../../../src/core/findings/shownFinding.ts';
import { undecided } from '../../../src/core/findings/triage/triage.ts';
import type { RunStore } from '../../../src/core/run/disk/runStore.ts';
import {
  openAsAssessed,
  provideAsAssessed,
  showChangesSince,
} from '../../../src/editor/findings/code/asAssessed.ts';
import type { TextSources } from '../../../src/editor/findings/code/fileTexts.ts';
import { FolderCalls } from '../../../src/core/yieldingWork.ts';
import { silent } from '../../silentLog.ts';
import type { FindingStores } from '../../../src/editor/findings/findingArguments.ts';
import { toUploaded } from '../../unit/findings/result/storedManifest.ts';
import { identityFor } from '../../unit/findings/shownFindings.ts';
import { messages, recordCommand, shownTexts } from '../dialogs.ts';
import { gitWith, partly, storeOfFindings } from '../doubles.ts';
import { endedRun, inventedAccount } from '../storedRuns.ts';

const { getExtension } = vscode.extensions;
const commit = 'a'.repeat(40);
const uploaded = {
  'src/kept.js': 'one\ntwo\nthree\n',
  'inCommit.js': 'one\r\ntwo\r\n',
  'lost.js': 'as sent\n',
};

describe('files as they were assessed', () => {
  let root = '';
  let deps: FindingStores & TextSources;
  let shown: readonly ShownFinding[];
  let provided: vscode.Disposable;

  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'as-assessed-'));
    const [folder, runFolder] = [path.join(root, 'shop'), path.join(root, 'run')];
    const ended = endedRun({ id: 'as-assessed', folder, ...inventedAccount });
    const run = { ...ended, targets: [{ folder, name: 'shop', commit: { id: commit, dirty: true } }] };
    await mkdir(path.join(runFolder, 'source'), { recursive: true });
    await mkdir(path.join(folder, 'src'), { recursive: true });
    await writeFile(path.join(runFolder, 'manifest-0.json'), 'It takes long to read, and is not needed.');
    await writeFile(
      path.join(runFolder, keptPath({ target: 0, path: 'src/kept.js' })),
      uploaded['src/kept.js'],
    );
    await writeFile(path.join(folder, 'src/kept.js'), 'new\none\ntwo\nthree\n');
    await writeFile(path.join(root, 'secret.js'), 'not sent');
    const files = [...Object.keys(uploaded), '../secret.js', 'elsewhere/kept.js'];
    const items = files.map((file) => ({ title: 'Invented', severity: 'high', file, line: 2, code: 'two' }));
    const { findings } = parseFindings(JSON.stringify(items));
    shown = findings.map((finding) => ({
      ...{
        run,
        finding,
        locations: [],
        uploadedFolder: folder,
        ...identityFor('invented'),
        triage: undecided,
      },
      uploaded: finding.locations.map((location) => toUploaded(location.path, uploaded, folder)),
    }));
    const file = path.join(folder, 'src/kept.js');
    const kept = {
      ...toUploaded('src/kept.js', uploaded, folder)!,
      file,
      uploaded: toUploaded('src/kept.js', uploaded, folder),
    };
    shown = shown.map((each) => ({
      ...each,
      // The user mapped this path.
      locations: each.finding.locations.flatMap((reported) =>
        reported.path === 'elsewhere/kept.js' ? [{ ...kept, reported, drift: 'same' as const }] : [],
      ),
    }));
    const runs = { get: (id: string) => (id === run.id ? run : undefined), folderOf: () => runFolder };
    const store = storeOfFindings([], { read: () => Promise.resolve({ run, shown }) });
    deps = { runs: partly<RunStore>(runs), findings: store, calls: new FolderCalls(silent) };
    provided = provideAsAssessed(deps);
    const repository = {
      getObjectDetails: () => Promise.resolve({ size: 1 }),
      buffer: (ref: string, file: string) =>
        Promise.resolve(Buffer.from(file.endsWith('inCommit.js') && ref === commit ? 'one\ntwo\n' : 'other')),
    };
    Object.assign(vscode.extensions, { getExtension: () => gitWith(() => repository) });
  });

  after(async () => {
    Object.assign(vscode.extensions, { getExtension });
    provided.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await rm(root, { recursive: true, force: true });
  });

  it('are opened exactly as they were uploaded, with the finding selected at its original location', async () => {
    for (const [index, name] of [
      [0, 'src/kept.js'],
      [1, 'inCommit.js'],
      [4, 'src/kept.js'],
    ] as const) {
      await openAsAssessed(shown[index]!, deps);
      const { document, selection } = vscode.window.activeTextEditor!;
      assert.equal(document.uri.scheme, 'whitebox-assessed');
      assert.equal(document.getText(), uploaded[name]);
      assert.equal(document.getText(selection), 'two');
    }
    assert.deepEqual(messages.shown, []);
  });

  it('are not shown if their text is not exactly what was uploaded, or was never uploaded', async () => {
    await openAsAssessed(shown[2]!, deps);
    await openAsAssessed(shown[3]!, deps);
    assert.deepEqual(shownTexts(), [
      'lost.js can’t be shown as it was assessed: its content wasn’t saved, and commit aaaaaaaaaa contains a different version.',
      '../secret.js can’t be shown as it was assessed: no uploaded file matches with certainty.',
    ]);
    for (const name of ['../secret.js', '../../secret.js', 'src/kept.js/../../../secret.js']) {
      const { bytes, sha256 } = toUploaded('secret.js', { 'secret.js': 'not sent' }, '')!;
      const [path, query] = [`/as-assessed/0/${name}`, `${bytes} ${sha256}`];
      const uri = vscode.Uri.from({ scheme: 'whitebox-assessed', path, query });
      await assert.rejects(Promise.resolve(vscode.workspace.openTextDocument(uri)), name);
    }
  });

  it('are compared with the current files in one view, which lists what is missing', async () => {
    const opened = recordCommand('vscode.changes');
    await showChangesSince(shown[0]!.run, deps);
    const [[, changes] = []] = opened.calls as [string, (vscode.Uri | undefined)[][]][];
    assert.deepEqual(
      changes?.map((uris) => uris.slice(1).map((uri) => uri && `${uri.scheme}:${path.basename(uri.path)}`)),
      [
        ['whitebox-assessed:kept.js', 'file:kept.js'],
        ['whitebox-assessed:inCommit.js', undefined],
      ],
    );
    assert.match(messages.shown[0]?.text ?? '', /^Not compared: lost\.js: its content wasn’t saved/);
  });

  it('fill VS Code’s multi-file diff editor', async () => {
    await showChangesSince(shown[0]!.run, deps);
    const { activeTab } = vscode.window.tabGroups.activeTabGroup;
    assert.match(activeTab?.label ?? '', /^Since the assessment: /);
  });
});
