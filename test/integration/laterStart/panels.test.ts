import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { Baselines } from '../../../src/core/findings/baselines.ts';
import type { FindingStore } from '../../../src/core/findings/findingStore.ts';
import { parseFindings } from '../../../src/core/findings/parse/parse.ts';
import type { ShownFinding, ShownPlace } from '../../../src/core/findings/shownFinding.ts';
import type { RunStore } from '../../../src/core/run/runStore.ts';
import { undecided } from '../../../src/core/findings/triage/triage.ts';
import { fillPanel } from '../../../src/editor/documentPanel.ts';
import { toDetails } from '../../../src/editor/findingDetails.ts';
import { toReport } from '../../../src/editor/report.ts';
import { storageVariable } from '../events.ts';
import { openFolders } from '../openFolders.ts';
import { endedRun } from '../storedRuns.ts';
import { shopRunId } from './workspace.ts';
import { silent } from '../../silentLog.ts';

describe('a document that stands open', () => {
  let shop: string;

  before(async () => {
    [shop = ''] = await openFolders(2);
  });

  it('has links that lead to where the code is by now, in findings that were read anew', async () => {
    const run = endedRun({ id: shopRunId, folder: shop, baseUrl: '', organizationId: '' });
    const file = path.join(shop, 'src', 'server.js');
    const findingAt = (startLine: number): ShownFinding => {
      const told = { path: 'src/server.js', startLine: 1 };
      const place = { file, folder: shop, path: told.path, startLine, told, drift: 'moved' };
      return { run, finding: { index: 7, places: [told] }, places: [place] } as unknown as ShownFinding;
    };
    let shown = findingAt(1);
    const folder = path.join(process.env[storageVariable]!, 'runs', shopRunId);
    const runs = { all: () => [], folderOf: () => folder } satisfies Partial<RunStore> as unknown as RunStore;
    const findings = {
      read: () => Promise.resolve({ run, shown: [shown] }),
      find: () => undefined,
      baselines: new Baselines({ runs, log: silent }),
    } satisfies Partial<FindingStore> as unknown as FindingStore;
    const report = toReport(run, { runs, findings });
    const { places } = await report.load();
    shown = findingAt(4);
    await report.openPlace(places.findIndex(({ label }) => label === 'src/server.js:1'));
    assert.equal(vscode.window.activeTextEditor?.selection.active.line, 3);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('counts no findings where their file cannot be read, and says so', async () => {
    const run = endedRun({ id: shopRunId, folder: shop, baseUrl: '', organizationId: '' });
    const folder = path.join(process.env[storageVariable]!, 'runs', shopRunId);
    const runs = { all: () => [], folderOf: () => folder } satisfies Partial<RunStore> as unknown as RunStore;
    const findings = {
      read: () => Promise.resolve({ run, shown: [], failure: { kind: 'malformedFindings' } }),
      baselines: new Baselines({ runs, log: silent }),
    } satisfies Partial<FindingStore> as unknown as FindingStore;
    const { facts, severities } = await toReport(run, { runs, findings }).load();
    assert.deepEqual(severities, []);
    assert.match(facts.find(({ label }) => label === 'Findings')?.value ?? '', /cannot be read/);
  });

  it('says where a finding is not shown whole, and what shows the rest', async () => {
    const run = endedRun({ id: shopRunId, folder: shop, baseUrl: '', organizationId: '' });
    const findings = { find: () => undefined } satisfies Partial<FindingStore> as unknown as FindingStore;
    const saidOf = async (items: readonly unknown[]): Promise<readonly (string | undefined)[]> => {
      const parsed = parseFindings(JSON.stringify(items), { runId: run.id });
      const contents = parsed.findings.map((finding) => {
        const shown = { run, finding, places: [], folder: undefined, fingerprint: '', triage: undecided };
        return toDetails(shown, findings).load();
      });
      const facts = (await Promise.all(contents)).map(({ facts }) => facts);
      return facts.map((each) => each.find(({ label }) => label === 'Shown here')?.value);
    };
    const [whole, long, unreadable] = await saidOf([
      { title: 'Invented' },
      { title: 'Invented', description: 'long '.repeat(20_000) },
      'Invented',
    ]);
    assert.equal(whole, undefined);
    assert.match(long ?? '', /^in part.*Show Raw JSON/);
    assert.match(unreadable ?? '', /unknown form.*Show Raw JSON/);
  });

  it('links a text of a finding only where it means one place, and each entry of the list to its own', async () => {
    const run = endedRun({ id: shopRunId, folder: shop, baseUrl: '', organizationId: '' });
    const findings = { find: () => undefined } satisfies Partial<FindingStore> as unknown as FindingStore;
    const [finding] = parseFindings(
      JSON.stringify([
        { title: 'Invented', locations: [12, 2, 5].map((line) => ({ path: 'src/server.js', line })) },
      ]),
      { runId: run.id },
    ).findings;
    const placeNow = (at: number, startLine: number, file: string): ShownPlace => {
      const told = finding!.places[at]!;
      return { file, folder: shop, path: told.path, startLine, told, drift: 'moved' };
    };
    const places = [placeNow(0, 22, '/one/a.js'), placeNow(1, 12, '/one/a.js'), placeNow(2, 22, '/two/a.js')];
    const shown = { run, finding: finding!, places, folder: shop, fingerprint: '', triage: undecided };
    const { markdown, places: links } = await toDetails(shown, findings).load();
    assert.deepEqual(Object.fromEntries(links.map(({ label, index }) => [label, index])), {
      '#place-0': 0,
      '#place-1': 1,
      '#place-2': 2,
      'src/server.js:2': 1,
      'src/server.js:5': 2,
    });
    assert.deepEqual(
      [...markdown.matchAll(/^- \[` (.*) `\]\((.*)\)/gm)].map(([, text, to]) => [text, to]),
      [
        ['src/server.js:22', '#place-0'],
        ['src/server.js:12', '#place-1'],
        ['src/server.js:22', '#place-2'],
      ],
    );
  });

  it('is shown anew while it is seen, when it is not as it was', async () => {
    const posted: string[] = [];
    const received = new vscode.EventEmitter<unknown>();
    const panel = {
      visible: true,
      webview: {
        asWebviewUri: (uri: vscode.Uri) => uri,
        onDidReceiveMessage: received.event,
        postMessage: ({ content }: { content: { markdown: string } }) => {
          posted.push(content.markdown);
          return Promise.resolve(true);
        },
      },
      onDidDispose: () => received,
    };
    let markdown = 'one';
    const document = {
      id: 'invented',
      title: 'Invented',
      load: () =>
        Promise.resolve({
          markdown,
          title: '',
          facts: [],
          severities: [],
          places: [],
          language: 'en' as const,
        }),
      openPlace: () => Promise.resolve(),
    };
    const deps = { extensionUri: vscode.Uri.file(shop), explain: String, log: silent };
    const shown = fillPanel(panel as unknown as vscode.WebviewPanel, document, deps);
    const settled = (): Promise<void> => new Promise(setImmediate);
    received.fire({ type: 'ready' });
    await settled();
    shown.refresh();
    await settled();
    assert.deepEqual(posted, ['one']);
    markdown = 'two';
    shown.refresh();
    await settled();
    assert.deepEqual(posted, ['one', 'two']);
    panel.visible = false;
    markdown = 'three';
    shown.refresh();
    await settled();
    assert.deepEqual(posted, ['one', 'two']);
  });
});
