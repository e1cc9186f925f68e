import assert from 'node:assert/strict';
import path from 'node:path';
import { beforeEach, describe, it } from 'mocha';
import type * as vscode from 'vscode';
import type { Confirmation } from '../../../src/core/findings/confirmation.ts';
import { childNodes, type OutlineNode, rootNodes } from '../../../src/core/findings/view/outline.ts';
import { systemClock } from '../../../src/core/ports.ts';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import {
  confirmationLabel,
  type ConfirmDeps,
  confirmLive,
} from '../../../src/editor/blackbox/confirmLive.ts';
import { openUrl } from '../../../src/editor/findings/findingCommands.ts';
import { toItem } from '../../../src/editor/findings/tree/findingItems.ts';
import { silent } from '../../silentLog.ts';
import { invent } from '../../unit/findings/shownFindings.ts';
import { messages, pick, temporaryFolder } from '../dialogs.ts';
import { partly } from '../doubles.ts';
import { folder } from '../openFolders.ts';
import { dist } from '../shownRuns.ts';
import { endedRun, inventedAccount as location, storeCrawl } from '../storedRuns.ts';

const reflected = {
  title: 'Reflected cross-site scripting',
  feature: 'Search [now](command:workbench.action.quit)',
  perspective: 'XSS',
  method: 'GET',
  url: 'https://shop.example.test/search?q=%3Ci%3E&page=1',
};

const code = invent({ title: 'SQL from a request', cwes: [89], at: { path: 'src/orders.js' } });

describe('findings of a live application', () => {
  let storage: string;
  let runs: RunStore;

  beforeEach(async () => {
    storage = await temporaryFolder();
    runs = new RunStore(path.join(storage, 'runs'), { clock: systemClock, log: silent });
  });

  it('are listed under their feature as plain text, with the request that shows them', () => {
    const itemsOf = (nodes: readonly OutlineNode[]): vscode.TreeItem[] =>
      nodes.flatMap((node) => [toItem(node, true), ...itemsOf(childNodes(node))]);
    const [severity, feature, finding] = itemsOf(rootNodes([invent(reflected)], 'severity'));
    assert.ok(severity && feature && finding);
    assert.equal(severity.label, 'High');
    assert.equal(feature.label, reflected.feature);
    assert.equal(finding.label, reflected.title);
    assert.equal(finding.description, `XSS · GET ${reflected.url}`);
    assert.equal(finding.contextValue, 'finding live withUrl');
    const inCode = { ...code.finding, locations: [{ path: 'src/orders.js' }] };
    const ended = { ...code, finding: inCode, run: endedRun({ id: 'code', folder, ...location }) };
    const [, , ofCode] = itemsOf(rootNodes([ended], 'severity'));
    assert.equal(ofCode?.contextValue, 'finding withFile');
    assert.equal(finding.command?.command, 'whitebox.showFindingDetails');
    assert.equal(typeof finding.tooltip, 'string');
    assert.match(finding.tooltip as string, /GET https:\/\/shop\.example\.test\/search/);
  });

  it('open their URL only after showing it whole, and never a truncated one', async () => {
    await openUrl(invent(reflected));
    await openUrl(invent({ ...reflected, url: '/search' }));
    const [question, refusal] = messages.shown;
    assert.ok(question);
    assert.equal(question.text, `Open this URL? ${reflected.url}`);
    assert.deepEqual([question.isModal, question.buttons], [true, ['Open in Browser']]);
    assert.equal(refusal?.text, 'The finding’s URL is incomplete: /search');
  });

  /** The pickers are answered with these labels in turn. */
  function confirming(picks: readonly string[], confirmations: readonly Confirmation[] = []) {
    const answered: (readonly [string, boolean])[] = [];
    const offered = pick(...picks);
    const started: Pick<Run, 'confirms' | 'label'>[] = [];
    const deps = partly<ConfirmDeps>({
      runs,
      parseWorkerFile: dist('parseWorker.cjs'),
      findings: { confirmationsOf: () => Promise.resolve(confirmations) },
      passwords: { get: () => Promise.resolve([]), keysOf: () => [], approve: () => Promise.resolve() },
      tracker: {
        start: (plan: Run) => Promise.resolve(void started.push(plan)),
        claim: () =>
          Promise.resolve({ lost: new AbortController().signal, release: () => Promise.resolve() }),
        answerIsSame: (id: string, isSame: boolean) => Promise.resolve(void answered.push([id, isSame])),
      },
    });
    const listed = (at: number): string[] =>
      (offered[at] ?? []).map(({ label, description = '' }) => `${label} ${description}`.trim());
    return { deps, answered, listed, started };
  }

  it('confirm a finding of the code: choose feature and perspective, then a question with the cost', async () => {
    const stored = { id: 'crawl', folder, ...location };
    const features = [{ name: 'Search', url: 'https://shop.example.test/search' }, { name: 'Log in' }];
    await storeCrawl(storage, stored, { features }, { target_urls: ['https://shop.example.test/'] });
    await runs.reload();
    const { deps, listed } = confirming(['Search', 'Injection']);
    await confirmLive(code, deps);
    assert.deepEqual(listed(0), ['Search https://shop.example.test/search', 'Log in']);
    assert.equal(listed(1)[0], 'Injection suggested from the CWE');
    const question = messages.shown.find(({ isModal }) => isModal);
    assert.match(
      question?.detail ?? '',
      /One pair is tested: Search · Injection\. This can spend up to 10 credits for testing and 5 for crawling\./,
    );
    assert.match(question?.detail ?? '', /Does the deployment run this code/);
    assert.deepEqual(
      runs.all().map(({ id }) => id),
      ['crawl'],
      'nothing starts without an answer',
    );
  });

  it('say so if no run has features', async () => {
    const { deps } = confirming([]);
    await confirmLive(code, deps);
    const [{ text, buttons } = { text: '', buttons: [] }] = messages.shown;
    assert.match(text, /^No run started on this machine has features/);
    assert.deepEqual(buttons, ['Start Crawl…']);
  });

  it('ask whether the result is the same finding, and offer the same pair again', async () => {
    const input = {
      target_urls: ['https://shop.example.test/'],
      pairs: [{ feature_name: 'Search', perspective: 'Injection' as const }],
    };
    const run: Run = {
      ...endedRun({ id: 'tried', folder, ...location }),
      workflow: 'blackbox-assessment',
      input,
    };
    const tried: Confirmation = {
      run,
      feature: 'Search',
      perspective: 'Injection',
      result: 'found',
      found: [invent(reflected)],
    };
    assert.match(
      confirmationLabel(tried),
      /^live finding in this pair; to say whether it’s the same, choose “Confirm Live…” \(Search · Injection, /,
    );
    const { deps, answered, listed } = confirming(['It’s the Same Finding'], [tried]);
    await confirmLive(code, deps);
    assert.deepEqual(listed(0), [
      `Show the Live Finding: ${reflected.title} GET ${reflected.url}`,
      'It’s the Same Finding',
      'It’s a Different Finding',
      'Test Same Pair Again…',
      'Test Another Pair…',
    ]);
    assert.deepEqual(answered, [['tried', true]]);

    const again = confirming(['Test Same Pair Again…'], [{ ...tried, result: 'nothing', found: [] }]);
    messages.press = ({ buttons }) => buttons[0];
    await confirmLive(code, again.deps);
    assert.deepEqual(again.listed(0), ['Test Same Pair Again…', 'Test Another Pair…']);
    assert.match(messages.shown[0]?.detail ?? '', /One pair is tested: Search · Injection\./);
    const [{ confirms, label } = {}] = again.started;
    assert.deepEqual([confirms, label], [code.name, 'SQL from a request'], 'F155');
  });
});
