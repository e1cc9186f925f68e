import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { DetailedFinding, ShownFinding } from '../../../src/core/findings/shownFinding.ts';
import type { RunTracker } from '../../../src/core/run/runTracker.ts';
import { extensionId, toLinkQuery } from '../../../src/editor/runs/runLink.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import { copyFindings, shareFinding } from '../../../src/editor/findings/shareFindings.ts';
import { createLinkFollower } from '../../../src/editor/runs/trackRun.ts';
import { silent } from '../../silentLog.ts';
import { invent } from '../../unit/findings/shownFindings.ts';
import { answer, recordCommand, watchMessages, replace } from '../dialogs.ts';
import { gitWith, partly, storeOfFindings, storeOfRuns } from '../doubles.ts';
import { folder } from '../openFolders.ts';
import { dist } from '../shownRuns.ts';
import { endedRun, inventedAccount as account } from '../storedRuns.ts';
import { setUserSettings } from '../userSettings.ts';

const deps = { secretWorkerFile: dist('secretWorker.cjs') };

describe('links to findings and runs', () => {
  let run: Run;
  let shown: DetailedFinding;
  let known: readonly Run[];
  let opened: ShownFinding[];
  let tracked: unknown[];
  let follow: (uri: vscode.Uri) => Promise<void>;

  before(() => {
    run = endedRun({ id: 'linked', folder, ...account });
    shown = { ...invent({ title: 'Weak hash', at: { path: 'a.js' } }), run };
  });

  beforeEach(async () => {
    await setUserSettings({ 'whitebox.baseUrl': account.baseUrl, 'whitebox.organizationId': 'invented' });
    [known, opened, tracked] = [[run], [], []];
    const track = (location: object): Promise<Run> => {
      tracked.push(location);
      return Promise.resolve(run);
    };
    follow = createLinkFollower({
      runs: Object.assign(storeOfRuns(), { all: () => known }),
      log: silent,
      tracker: partly<RunTracker>({ track }),
      findings: storeOfFindings([], { read: () => Promise.resolve({ run, shown: [shown] }) }),
      details: { open: (source: ShownFinding) => void opened.push(source) } as never,
      attempt: (_id, work) => work(),
    });
    answer({
      showWorkspaceFolderPick: () => vscode.workspace.workspaceFolders?.[0],
    });
  });

  const linkTo = (of: Run, page = '/finding', finding = shown.name): vscode.Uri =>
    vscode.Uri.parse(`vscode://${extensionId}${page}?${toLinkQuery(of, { finding })}`);
  const followed = async (uri: vscode.Uri, press?: string): Promise<string[]> => {
    const messages = watchMessages(() => press);
    await follow(uri);
    return messages.shown.map(({ text }) => text);
  };

  it('open a finding of a local run', async () => {
    assert.deepEqual(await followed(linkTo(run)), []);
    assert.deepEqual(opened, [shown]);
    const said = await followed(linkTo(run, '/finding', '0123456789abcdef:9'));
    assert.match(
      said.join(),
      /^The run in this link is in the Runs view \(.+\), but VS Code can’t find the finding\.$/,
    );
  });

  it('F142 offer to track a run that is not local, and do nothing unless the user agrees', async () => {
    known = [];
    assert.deepEqual(await followed(linkTo(run)), ['Track this run?']);
    assert.deepEqual(tracked, []);
    assert.deepEqual(await followed(linkTo(run, '/run'), 'Track Run'), ['Track this run?']);
    assert.deepEqual(
      tracked.map((location) => ({ ...(location as Run), targets: [], language: '' })),
      [{ workflow: 'whitebox-assessment', ...account, runId: 'invented-linked', targets: [], language: '' }],
    );
  });

  it('F142 say that they belong to another or unknown service, and ask nothing', async () => {
    known = [];
    const other = { ...run, organizationId: 'another' } as Run;
    assert.match(
      (await followed(linkTo(other), 'Track Run')).join(),
      /^This link is for a different service/,
    );
    assert.match(
      (await followed(linkTo(run, '/cancel'), 'Track Run')).join(),
      /^This version of the extension doesn’t support this link/,
    );
    assert.deepEqual([tracked, opened], [[], []]);
  });

  it('F142 ask one question at a time', async () => {
    known = [];
    const answer = Promise.withResolvers<string>();
    const messages = watchMessages(() => answer.promise);
    const first = follow(linkTo(run));
    await Promise.all([follow(linkTo(run)), follow(linkTo(run, '/run')), follow(linkTo(run, '/x'))]);
    answer.resolve('Cancel');
    await first;
    assert.deepEqual([messages.shown.length, tracked], [1, []]);
  });

  it('are copied with title and run ID, in the form that other machines open', async () => {
    replace(vscode.extensions, { getExtension: () => undefined });
    answer({ showQuickPick: (items: readonly object[]) => items[0] });
    await shareFinding(shown, deps);
    const [title, id, link = ''] = (await vscode.env.clipboard.readText()).split('\n');
    assert.deepEqual([title, id], ['Weak hash', 'Run invented-linked']);
    assert.match(
      link,
      /^[a-z-]+:\/\/whitebox\.whitebox-assessment\/finding\?v=1&workflow=whitebox-assessment&run=invented-linked&finding=[0-9a-f]{16}%3A0&file=[0-9a-f]{16}&index=0&print=[^&]+&at=[0-9a-f]{12}$/,
    );
    await followed(vscode.Uri.parse(link));
    assert.deepEqual(opened, [shown]);
  });

  it('F180 contain no credential of a finding, nor does its copy', async () => {
    const token = ['gh', 'p_', 'a1B2'.repeat(9)].join('');
    const leaky = { ...invent({ title: `Key ${token}`, at: { path: `src/${token}.js` } }), run };
    replace(vscode.extensions, { getExtension: () => undefined });
    answer({ showQuickPick: (items: readonly object[]) => items[0] });
    await shareFinding(leaky, deps);
    const link = await vscode.env.clipboard.readText();
    assert.match(link, /^Key gh[^]*\nRun invented-linked\n/);
    await copyFindings([leaky], deps);
    const copy = await vscode.env.clipboard.readText();
    assert.match(copy, /^## Key gh/);
    for (const text of [link, copy]) assert.doesNotMatch(text.replaceAll('\\', ''), /a1B2a1B2/);
  });

  it('open an issue of the git remote only after a warning that names all of it', async () => {
    const repository = {
      state: { remotes: [{ name: 'origin', fetchUrl: 'git@github.com:acme/shop.git' }] },
    };
    replace(vscode.extensions, { getExtension: () => gitWith(() => repository) });
    answer({ showQuickPick: (items: readonly object[]) => items[1] });
    const pages = recordCommand('vscode.open');
    const share = async (press?: string): Promise<void> => {
      const messages = watchMessages(() => press);
      await shareFinding(shown, deps);
      const [{ text, buttons, detail } = { text: '', buttons: [], detail: '' }] = messages.shown;
      assert.equal(text, 'Open a page for this finding in github.com/acme/shop?');
      assert.deepEqual(buttons, ['Open Private Security Advisory', 'Open Issue']);
      assert.match(detail, /^Other people may see/);
    };
    await share();
    assert.deepEqual(pages.calls, []);
    await share('Open Issue');
    await share('Open Private Security Advisory');
    assert.deepEqual(pages.calls.flat(), [
      'https://github.com/acme/shop/issues/new?title=Weak+hash+%28WB-1%29',
      'https://github.com/acme/shop/security/advisories/new',
    ]);
    assert.match(await vscode.env.clipboard.readText(), /^## Weak hash\n[^]*\nRun invented-linked\n/);
  });
});
