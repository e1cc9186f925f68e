import assert from 'node:assert/strict';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { pairsToContinue } from '../../../src/core/features/chosenPairs.ts';
import { perspectives } from '../../../src/core/workflows/perspectives.ts';
import { systemClock } from '../../../src/core/ports.ts';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';
import type { ShownFinding, ShownRun } from '../../../src/core/findings/shownFinding.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import {
  choosePairs,
  filterFeatures,
  setPriority,
  togglePairs,
} from '../../../src/editor/blackbox/choosePairs.ts';
import type { FeaturesNode } from '../../../src/editor/blackbox/featureItems.ts';
import { FeaturesView } from '../../../src/editor/blackbox/featuresView.ts';
import { describeError } from '../../../src/editor/errors/errorMessages.ts';
import type { LazyView } from '../../../src/lazyView.ts';
import { silent } from '../../silentLog.ts';
import { invent } from '../../unit/findings/shownFindings.ts';
import { folder } from '../openFolders.ts';
import { answer, pick, temporaryFolder } from '../dialogs.ts';
import { partly } from '../doubles.ts';
import { dist } from '../shownRuns.ts';
import { inventedAccount, storeCrawl, storeLiveRun } from '../storedRuns.ts';

const parseWorkerFile = dist('parseWorker.cjs');
const { Checked, Unchecked } = vscode.TreeItemCheckboxState;

// The features and their progress are invented, as their file formats are.
const features = [
  {
    name: 'Log in',
    method: 'POST',
    url: 'https://shop.example.test/login',
    description: 'Signs a person in.',
  },
  { name: 'Search', url: 'https://shop.example.test/search' },
  { name: 'Pay\u202E [now](command:workbench.action.quit)\n$(bug)' },
  { name: 'Search', url: 'https://shop.example.test/find' },
];
const progress = {
  completed: [
    { feature_name: 'Log in', perspective: 'XSS' },
    { feature_name: 'Search', perspective: 'XSS' },
  ],
  skipped: [{ feature_name: 'Search', perspective: 'CSRF' }],
};

describe('the Features view', () => {
  let storage: string;
  let runs: RunStore;
  let view: FeaturesView;
  let tree: vscode.TreeDataProvider<FeaturesNode>;
  let failures: unknown[];
  const shownView = { message: '', description: '' };
  const found: ShownFinding[] = [];
  const findings = { read: () => Promise.resolve(partly<ShownRun>({ shown: found })) };
  const checks = new vscode.EventEmitter<vscode.TreeCheckboxChangeEvent<unknown>>();
  const attempted = new vscode.EventEmitter<string>();

  /** Opens a new view, as a new window does. */
  const open = (): void => {
    runs = new RunStore(path.join(storage, 'runs'), { clock: systemClock, log: silent });
    const lazy = partly<LazyView<FeaturesNode>>({
      view: Object.assign(shownView, { onDidChangeCheckboxState: checks.event }),
      fill: (provider: vscode.TreeDataProvider<FeaturesNode>) => {
        tree = provider;
      },
    });
    view = new FeaturesView(lazy, {
      runs,
      parseWorkerFile,
      attempt: async (id, work) => {
        await work().catch((error: unknown) => failures.push(error));
        attempted.fire(id);
      },
    });
  };

  beforeEach(async () => {
    storage = await temporaryFolder();
    failures = [];
    open();
  });

  afterEach(() => {
    view.close();
    view.dispose();
  });

  const crawl = async (artifacts: Readonly<Record<string, unknown>>, id = 'crawl'): Promise<Run> => {
    await storeCrawl(storage, { id, folder, ...inventedAccount }, artifacts);
    const run = await runs.refresh(id);
    assert.ok(run);
    return run;
  };
  const rows = async (parent?: FeaturesNode): Promise<FeaturesNode[]> =>
    (await tree.getChildren(parent)) ?? [];
  const itemOf = async (node: FeaturesNode): Promise<vscode.TreeItem> => tree.getTreeItem(node);
  /** Returns "☑ label: description" of rows. */
  const read = async (parent?: FeaturesNode): Promise<string[]> =>
    Promise.all(
      (await rows(parent)).map(async (node) => {
        const { label, description, checkboxState } = await itemOf(node);
        const { state } = (checkboxState ?? { state: undefined }) as {
          state: vscode.TreeItemCheckboxState | undefined;
        };
        const box = state === undefined ? '' : state === Checked ? '☑ ' : '☐ ';
        return `${box}${label as string}: ${description as string}`;
      }),
    );
  const checkWith = async (...items: [FeaturesNode, vscode.TreeItemCheckboxState][]): Promise<void> => {
    const done = new Promise((resolve) => attempted.event(resolve));
    checks.fire({ items });
    await done;
  };
  const chosen = async (run: Run): ReturnType<typeof pairsToContinue> => {
    await view.whenSaved();
    return pairsToContinue(run, runs.folderOf(run.id), parseWorkerFile);
  };
  it('shows features as plain text, with their pairs and the known state of each', async () => {
    await view.show(await crawl({ features, scan_progress: progress }));
    assert.deepEqual(await read(), [
      '☑ Log in: 11 of 11 · POST https://shop.example.test/login',
      '☑ Search: 11 of 11 · https://shop.example.test/search',
      '☑ Pay\\u{202E} [now](command:workbench.action.quit)\\u{000A}$(bug): 11 of 11',
    ]);
    const [login, search] = await rows();
    assert.deepEqual((await read(search)).slice(0, 3), [
      '☑ Injection: not tested',
      '☑ XSS: tested',
      '☑ CSRF: not applicable',
    ]);
    assert.equal((await rows(login)).length, perspectives.length);
    const { tooltip, checkboxState, accessibilityInformation } = await itemOf(login!);
    assert.equal(tooltip, 'Log in\nPOST https://shop.example.test/login\nSigns a person in.');
    assert.equal(accessibilityInformation?.label, 'Log in, 11 of 11 · POST https://shop.example.test/login');
    const { accessibilityInformation: ofBox } = checkboxState as {
      accessibilityInformation?: { label: string };
    };
    assert.equal(ofBox?.label, 'Log in: Chosen. To exclude it, clear the checkbox.');
    assert.equal(
      shownView.message,
      '33 of 33 pairs chosen. 2 tested, 1 not applicable. Entries with the same name count as one feature. Repeated entries: 1.',
    );
  });

  it('saves checked pairs with the run, and sends names unchanged', async () => {
    const run = await crawl({ features });
    await view.show(run);
    const [login, search, pay] = await rows();
    await checkWith([pay!, Unchecked]);
    // This does what the space bar does: what is not all chosen becomes so first.
    for (const [some, boxes] of [
      [[login!, search!, pay!], '☑☑☑'],
      [[login!, search!, pay!], '☐☐☐'],
    ] as const) {
      await togglePairs(view, some);
      assert.equal((await read()).map((row) => row.slice(0, 1)).join(''), boxes);
    }
    const xss = (await rows(pay))[1]!;
    await checkWith([xss, Checked]);
    assert.match(shownView.message, /^1 of 33 pairs chosen\./);
    assert.deepEqual(await chosen(run), [{ feature_name: features[2]!.name, perspective: 'XSS' }]);

    pick('High priority');
    await setPriority(view, [xss]);
    view.close();
    await view.show(run);
    assert.equal((await read((await rows())[2]))[1], '☑ XSS: High priority');
    assert.deepEqual(await chosen(run), [
      { feature_name: features[2]!.name, perspective: 'XSS', priority: 'high' },
    ]);
  });

  it('chooses all, none, by perspective or by state, among the filtered features', async () => {
    const run = await crawl({ features, scan_progress: progress });
    await view.show(run);
    pick('No Pairs');
    await choosePairs(view, findings);
    assert.match(shownView.message, /^0 of 33 pairs chosen\./);
    pick('By Perspective…', ['XSS', 'CORS']);
    await choosePairs(view, findings);
    assert.match(shownView.message, /^6 of 33 pairs chosen\./);
    pick('By State…', ['tested']);
    await choosePairs(view, findings);
    assert.match(shownView.message, /^2 of 33 pairs chosen\./);

    answer({ showInputBox: () => 'LOGIN' });
    await filterFeatures(view);
    assert.deepEqual(await read(), ['☐ Log in: 1 of 11 · POST https://shop.example.test/login']);
    assert.match(shownView.message, /Filter “LOGIN”: 1 of 3 features\./);
    pick('All Pairs');
    await choosePairs(view, findings);
    assert.match(shownView.message, /^12 of 33 pairs chosen\./);
    assert.equal((await chosen(run)).length, 12);
  });

  it('F155 says once, in its message, that a crawl has tested no pairs', async () => {
    await view.show(await crawl({ features }));
    const [pair] = await rows((await rows())[0]);
    assert.match(shownView.message, /^33 of 33 pairs chosen\. No pairs have been tested yet\./);
    const { description, accessibilityInformation, iconPath } = await itemOf(pair!);
    assert.deepEqual([description, accessibilityInformation?.label], ['', 'Injection']);
    assert.deepEqual(iconPath, new vscode.ThemeIcon('circle-outline'));
  });

  it('F155 chooses pairs with findings for a retest by state; nothing is checked at first', async () => {
    found.splice(0, Infinity, invent({ feature: 'Search', perspective: 'csrf' }));
    const offered = pick('By State…', ['with findings']);
    const run = await crawl({ features, findings: [], scan_progress: progress });
    await view.show({ ...run, workflow: 'blackbox-assessment', input: { target_urls: [] } });
    await choosePairs(view, findings);
    assert.deepEqual(
      offered[1]?.map(({ label, picked }) => `${label} ${String(picked)}`),
      ['with findings false', 'tested false', 'not applicable false', 'not tested false'],
    );
    assert.deepEqual(await chosen(run), [{ feature_name: 'Search', perspective: 'CSRF' }]);

    const firstOffer = async (): Promise<string> => {
      const picks = pick('By State…', ['with findings']);
      await choosePairs(view, findings);
      const [first] = picks[1] ?? [];
      return `${first?.label ?? ''}: ${first?.description ?? ''}`;
    };
    found.splice(0, Infinity, invent({ feature: 'Log in' }));
    assert.equal(await firstOffer(), 'with findings: 0 of 11', 'the finding names no perspective');
    found.splice(0);
    assert.equal(await firstOffer(), 'with findings: 0 of 0');
  });

  it('F136 marks a chosen feature that no longer exists, which can be unchecked', async () => {
    const run = await crawl({ features });
    await view.show(run);
    const [login] = await rows();
    await checkWith([login!, Unchecked]);
    view.close();
    await crawl({ features: [features[0], features[1]] });
    await view.show(run);
    const [gone] = await rows();
    assert.match((await read())[0]!, /^☑ Pay.*: feature no longer exists: clear its checkbox$/);
    assert.match(
      shownView.message,
      /^11 of 22 pairs chosen\. No pairs have been tested yet\. Some chosen features no longer exist/,
    );
    await assert.rejects(chosen(run), (error: unknown) => {
      assert.match(describeError(error).message, /^Nothing was sent: some chosen features/);
      return true;
    });
    await checkWith([gone!, Unchecked]);
    assert.equal((await chosen(run)).length, 11);
    assert.equal((await rows()).length, 2);
  });

  it('F136 counts more pairs than can be uploaded, and shows the first 2,000 features', async () => {
    const run = await crawl({
      features: Array.from({ length: 2_003 }, (_, at) => ({ name: `Feature ${at}` })),
    });
    await view.show(run);
    assert.match(shownView.message, /^22,033 of 22,033 pairs chosen\. No pairs have been tested yet\.$/);
    assert.equal((await rows()).length, 2_001);
    assert.equal((await read()).at(-1), '… and 3 more: to see these, filter the features');
    pick('By Perspective…', ['XSS', 'CSRF', 'CORS', 'SSRF', 'Injection']);
    await choosePairs(view, findings);
    assert.match(shownView.message, /^10,015 of 22,033 pairs chosen\. You can assess at most 10,000, or all/);
  });

  it('F136 says what cannot be read, and shows the rest', async () => {
    await view.show(await crawl({ features: [...features, 7], scan_progress: { other: true } }));
    assert.match(
      shownView.message,
      /can’t read part of the assessment progress.*Entries without a usable name .*: 1\./,
    );
    view.close();

    const none = await crawl({ features: [] }, 'none');
    await view.show(none);
    assert.deepEqual([await read(), shownView.message], [[], '']);
    view.close();

    for (const [id, artifacts] of [
      ['other', { features: { pages: [] } }],
      ['absent', {}],
    ] as const) {
      await assert.rejects(view.show(await crawl(artifacts, id)), (error: unknown) => {
        assert.match(describeError(error).message, /features/);
        return true;
      });
      assert.equal(view.shown(), undefined);
    }
  });

  it('opens by itself when a crawl ends while the window is open', async () => {
    await crawl({ features }, 'earlier');
    assert.equal(view.shown(), undefined);
    await storeLiveRun(storage, { id: 'live', folder, ...inventedAccount });
    await runs.refresh('live');
    const done = new Promise((resolve) => attempted.event(resolve));
    await crawl({ features }, 'live');
    await done;
    assert.deepEqual([view.shown()?.run.id, failures], ['live', []]);
  });

  it('is hidden when its run is removed, and updated with its artifacts', async () => {
    const run = await crawl({ features });
    await view.show(run);
    const read = new Promise((resolve) => attempted.event(resolve));
    await crawl({ features: [features[0]] });
    await read;
    assert.equal(view.shown()?.list.features.length, 1);
    await runs.remove(run.id);
    assert.equal(view.shown(), undefined);
    assert.deepEqual(failures, []);
  });
});
