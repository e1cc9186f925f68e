import assert from 'node:assert/strict';
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { Verdict } from '../../../src/core/findings/result/result.ts';
import { parseFindings } from '../../../src/core/findings/parse/parseFindings.ts';
import type { ShownFinding, ShownLocation, ShownRun } from '../../../src/core/findings/shownFinding.ts';
import type { RunIn } from '../../../src/core/run/state/run.ts';
import { undecided } from '../../../src/core/findings/triage/triage.ts';
import { DocumentPanel } from '../../../src/editor/report/documentPanels.ts';
import { formatTime } from '../../../src/editor/formats.ts';
import { toDetails } from '../../../src/editor/findings/findingDetails.ts';
import { toReport } from '../../../src/editor/report/report.ts';
import { toTrend } from '../../../src/editor/report/trend.ts';
import type { HostMessage, ReportContent } from '../../../src/core/report/protocol.ts';
import { eventually, untilEqual } from '../../host/workbench/eventually.ts';
import { splitReported } from '../../../src/core/findings/finding.ts';
import { partly, storeOfFindings, storeOfRuns } from '../doubles.ts';
import { folder as shop } from '../openFolders.ts';
import { storage } from '../runsInStorage.ts';
import { endedRun, inventedAccount } from '../storedRuns.ts';
import { shopRunId } from './workspace.ts';
import { silent } from '../../silentLog.ts';
import { identityFor, invent } from '../../unit/findings/shownFindings.ts';

const identity = identityFor('invented');
describe('an open document', () => {
  let run: RunIn<'succeeded'>;

  before(() => {
    run = endedRun({ id: shopRunId, folder: shop, ...inventedAccount });
  });

  const folderOf = (id: string): string => path.join(storage, 'runs', id);
  const runs = Object.assign(storeOfRuns(), { folderOf });
  const reportOf = (read: () => Partial<ShownRun>, of = run) => {
    const findings = storeOfFindings([], { read: () => Promise.resolve({ run: of, shown: [], ...read() }) });
    return toReport(of, { runs, findings });
  };
  /** Shows a document in a stub of a webview panel. */
  const openPanel = (document: ConstructorParameters<typeof DocumentPanel>[1]) => {
    const posted: HostMessage[] = [];
    const received = new vscode.EventEmitter<unknown>();
    const stub = {
      visible: true,
      webview: {
        asWebviewUri: (uri: vscode.Uri) => uri,
        onDidReceiveMessage: received.event,
        postMessage: (message: HostMessage) => Promise.resolve(posted.push(message) > 0),
      },
      onDidDispose: () => received,
    };
    const deps = {
      extensionUri: vscode.Uri.file(shop),
      attempt: (_id: string, work: () => Promise<void>) => work(),
      log: silent,
    };
    const panel = new DocumentPanel(partly<vscode.WebviewPanel>(stub), document, deps);
    return { posted, received, stub, panel };
  };

  it('links to the current location of code in findings that were read again', async () => {
    const file = path.join(shop, 'src', 'server.js');
    const findingAt = (startLine: number): ShownFinding => {
      const reported = { path: 'src/server.js', startLine: 1 };
      const location = {
        file,
        folder: shop,
        target: 0,
        path: reported.path,
        startLine,
        reported,
        drift: 'moved',
      };
      return {
        run,
        finding: { index: 7, locations: [reported] },
        locations: [location],
      } as unknown as ShownFinding;
    };
    let shown = findingAt(1);
    const report = reportOf(() => ({ shown: [shown] }));
    const { locations } = await report.load();
    shown = findingAt(4);
    await report.openLocation?.(locations.findIndex(({ label }) => label === 'src/server.js:1'));
    assert.equal(vscode.window.activeTextEditor?.selection.active.line, 3);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('gives no count if the findings file cannot be read, and says so', async () => {
    const failure = { kind: 'malformedFindings' as const };
    const { facts, severities } = await reportOf(() => ({ failure })).load();
    assert.deepEqual(severities, []);
    assert.match(facts.find(({ label }) => label === 'Findings')?.value ?? '', /can’t be read/);
  });

  it('F155 says what a run without findings covers', async () => {
    const coverage = { uploaded: 239, excluded: { choice: 2 }, excludedFolders: 0, notPackaged: 1 };
    const covered = { ...run, targets: run.targets.map((target) => ({ ...target, coverage })) };
    const { facts, noFindings } = await reportOf(() => ({}), covered).load();
    assert.match(
      noFindings ?? '',
      /^0 findings in 239 uploaded files\. 2 files were excluded\. .*packaged: 1\.$/,
    );
    assert.equal(
      facts.find(({ label }) => label === 'Source')?.value,
      '239 files; excluded by your choice: 2; couldn’t be packaged: 1',
    );
  });

  it('counts as absent what the previous run reported, and nothing older', async () => {
    const absentOf = (id: string) => ({ ...invent({ verdict: 'fileUnchanged' }), run: { ...run, id } });
    const absent = [absentOf('before'), absentOf('older')];
    const { changes } = await reportOf(() => ({ absent, baseline: { ...run, id: 'before' } })).load();
    assert.deepEqual(
      changes?.counts.map(({ count }) => count),
      [0, 1],
    );
  });

  it('shows the trend of a folder in a separate panel', async () => {
    // The row of the folder passes this.
    await vscode.commands.executeCommand('whitebox.showTrend', { kind: 'folder', latestId: shopRunId });
    const { tabGroups } = vscode.window;
    const active = (): string | undefined => tabGroups.activeTabGroup.activeTab?.label;
    await untilEqual(active, 'Trend: shop');
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');

    const { finding } = invent({ severity: 'high' });
    const about = {
      run: run.id,
      ofTarget: shop,
      uploadedFolder: shop,
      uploadedPath: '',
      uploaded: [],
      quotes: [],
      statusSince: 1,
    };
    const entry = (verdict: Verdict) => ({ ...about, ...identity, finding, verdict });
    const absent = [entry('codeChanged'), entry('notUploaded')];
    const limitations = [{ kind: 'fewerFolders', folders: 1, of: 2 } as const];
    const traced = [{ run, limitations, reported: [entry('stillPresent')], absent }];
    const parts = { triage: { load: () => Promise.resolve(), get: () => undefined } };
    const document = toTrend({ run, traced }, parts as unknown as Parameters<typeof toTrend>[1]);
    const { trend } = await document.load();
    assert.deepEqual(trend?.rows[0]?.notes, ['Covers 1 of 2 folders.']);
    assert.deepEqual(trend.rows[0].counts, ['1 (High: 1)', '0', '1', '1']);
    assert.match(trend.notes.join(' '), /The counts use today’s triage decisions/);
  });

  it('says where a finding is truncated, and how to see the rest', async () => {
    const saidOf = async (items: readonly unknown[]): Promise<readonly (string | undefined)[]> => {
      const parsed = parseFindings(JSON.stringify(items));
      const contents = parsed.findings.map((finding) => {
        const shown = {
          run,
          finding,
          locations: [],
          uploadedFolder: undefined,
          ...identity,
          triage: undecided,
        };
        return toDetails(shown, storeOfFindings()).load();
      });
      const facts = (await Promise.all(contents)).map(({ facts }) => facts);
      return facts.map((each) => each.find(({ label }) => label === 'Shown here')?.value);
    };
    const [whole, long, unreadable] = await saidOf([
      { title: 'Invented', severity: 'low' },
      { title: 'Invented', severity: 'low', description: 'long '.repeat(20_000) },
      'Invented',
    ]);
    assert.equal(whole, undefined);
    assert.match(long ?? '', /^in part.*Show Raw JSON/);
    assert.match(unreadable ?? '', /doesn’t know its format.*Show Raw JSON/);
  });

  it('shows severity and confidence, description, locations, recommendation, then the rest', async () => {
    const item = {
      ...{ id: 'WB-[1](x)', title: 'Invented', severity: 'high', cwe: 89, cvss: 8.1, confidence: 'likely' },
      ...{ impact: 'i', description: 'd', recommendation: 'r', file: 'src/server.js', line: 2 },
    };
    const [finding] = parseFindings(JSON.stringify([item])).findings;
    const shown = {
      ...{ run, finding: finding!, locations: [], uploadedFolder: shop, ...identity },
      triage: { state: 'open', note: '', at: 1, until: '2026-11-26' } as const,
      verdict: 'new' as const,
      evidence: [{ kind: 'quoteNotFound', path: 'src/server.js', missing: 'quote' } as const],
      decidedBefore: { state: 'fixed', note: '', at: 1 } as const,
      owners: ['@ana', '@shop/web'],
    };
    const { details } = splitReported(finding!);
    const withDetails = () => Promise.resolve([{ ...shown, details }]);
    const store = storeOfFindings([], { withDetails });
    const { facts, parts } = await toDetails(shown, store).load();
    assert.deepEqual(
      [...facts.map(({ label }) => label), ...parts.map(({ heading }) => heading)],
      [
        ...[
          'Severity',
          'CWE',
          'CVSS',
          'Confidence',
          'Quoted code',
          'Compared with earlier runs',
          'Earlier decision',
          'Triage',
          'Decided',
          'Owner',
        ],
        ...['Description', 'Locations', 'Recommendation', 'Impact', 'Origin'],
      ],
    );
    assert.deepEqual(
      facts.slice(-3).map(({ value }) => value),
      ['Acceptance ended on November 26, 2026', formatTime(1), '@ana, @shop/web'],
    );
    assert.deepEqual(
      facts.flatMap(({ value, tone }) => (tone === undefined ? [] : [[value, tone]])),
      [
        ['quoted code not found in the uploaded src/server.js', 'amber'],
        ['earlier decision was “Fixed”; check it', 'amber'],
      ],
    );
    assert.match(parts.at(-1)?.markdown ?? '', /^- ID: WB\\-\\\[1\\\]\\\(x\\\)$/m);
  });

  it('links text of a finding only if it means one place, and each list entry to its own location', async () => {
    const [finding] = parseFindings(
      JSON.stringify([
        { title: 'Invented', locations: [12, 2, 2].map((line) => ({ path: 'src/server.js', line })) },
      ]),
    ).findings;
    const shownAt = (at: number, startLine: number, file: string): ShownLocation => {
      const reported = finding!.locations[at]!;
      return { file, folder: shop, target: 0, path: reported.path, startLine, reported, drift: 'moved' };
    };
    const locations = [shownAt(0, 22, '/one/a.js'), shownAt(1, 12, '/one/a.js'), shownAt(2, 22, '/two/a.js')];
    const shown = { run, finding: finding!, locations, uploadedFolder: shop, ...identity, triage: undecided };
    const { parts, locations: links } = await toDetails(shown, storeOfFindings()).load();
    const markdown = parts.find(({ heading }) => heading === 'Locations')?.markdown ?? '';
    assert.deepEqual(Object.fromEntries(links.map(({ label, index }) => [label, index])), {
      '#location-0': 0,
      '#location-1': 1,
      '#location-2': 2,
      'src/server.js:12': 0,
    });
    assert.deepEqual(
      [...markdown.matchAll(/^- \[` (.*) `\]\((.*)\)/gm)].map(([, text, to]) => [text, to]),
      [
        ['src/server.js:22', '#location-0'],
        ['src/server.js:12', '#location-1'],
        ['src/server.js:22', '#location-2'],
      ],
    );
  });

  it('is rendered again while visible if its content changed', async () => {
    let markdown = 'one';
    const document = {
      id: 'invented',
      title: 'Invented',
      load: () => Promise.resolve(partly<ReportContent>({ parts: [{ markdown }], locations: [] })),
      openLocation: () => Promise.resolve(),
    };
    const { posted, received, stub, panel } = openPanel(document);
    const texts = (): string[] =>
      posted.flatMap((message) => (message.type === 'show' ? message.content.parts[0]!.markdown : []));
    const handled = (): Promise<void> => new Promise(setImmediate);
    received.fire({ type: 'ready' });
    await handled();
    panel.refresh();
    await handled();
    assert.deepEqual(texts(), ['one']);
    markdown = 'two';
    panel.refresh();
    await handled();
    assert.deepEqual(texts(), ['one', 'two']);
    stub.visible = false;
    markdown = 'three';
    panel.refresh();
    await handled();
    assert.deepEqual(texts(), ['one', 'two']);
  });

  it('F128 of a report that is too large is a sentence with a button that opens it as text', async () => {
    const large = endedRun({ id: '20260101000000-large', folder: shop, ...inventedAccount });
    const runFolder = folderOf(large.id);
    await mkdir(runFolder, { recursive: true });
    const file = path.join(runFolder, 'report.md');
    await writeFile(file, '# Large\n');
    await truncate(file, 95_000_000);
    const { posted, received } = openPanel(reportOf(() => ({}), large));
    try {
      received.fire({ type: 'ready' });
      await eventually(
        () => posted.length,
        (count) => count > 0,
      );
      const [message] = posted;
      assert.ok(message?.type === 'problem');
      assert.equal(
        message.text,
        'This report is too large (95 MB) to show with formatting. You can open it as plain text.',
      );
      assert.deepEqual(message.actions, ['Open as Text']);
      received.fire({ type: 'act', index: 0 });
      await eventually(
        () => vscode.window.tabGroups.activeTabGroup.activeTab?.input,
        (input) => input instanceof vscode.TabInputText && input.uri.fsPath === file,
      );
    } finally {
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
      await rm(runFolder, { recursive: true });
    }
  });
});
