import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'mocha';
import type { Log } from 'sarif';
import * as vscode from 'vscode';
import { parseFindings } from '../../../src/core/findings/parse/parseFindings.ts';
import type { ShownFinding, ShownRun } from '../../../src/core/findings/shownFinding.ts';
import type { Filter } from '../../../src/core/findings/view/filter.ts';
import type { RunStore } from '../../../src/core/run/disk/runStore.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import type { ExportDeps } from '../../../src/editor/findings/exportFile.ts';
import { exportFindings } from '../../../src/editor/findings/exportFindings.ts';
import type { Filtering } from '../../../src/editor/findings/tree/filtering.ts';
import { storeManifest, toUploaded } from '../../unit/findings/result/storedManifest.ts';
import {
  brokenRules,
  codeScanningRules,
  ourRules,
  sarifProse,
} from '../../unit/findings/importExport/sarifRules.ts';
import { shownOf } from '../../unit/findings/importExport/exportingFindings.ts';
import { answer, messages, pick, shownTexts } from '../dialogs.ts';
import { gitWith, partly, storeOfFindings } from '../doubles.ts';
import { dist } from '../shownRuns.ts';
import { endedRun, inventedAccount } from '../storedRuns.ts';

const { getExtension } = vscode.extensions;
const text = 'one\ntwo\nthree\n';
const gone = { title: 'Gone', cwe: 22, file: 'shop/a.js', line: 2 };
const secret = ['AKIA', 'QWERTYUIOPASDFGH'].join('');

describe('exporting findings as SARIF', () => {
  let root = '';
  let run: Run;
  let deps: ExportDeps;
  let source: ShownRun;
  let filters: Filter[];
  const calls: string[] = [];

  const findingsOf = (items: readonly object[], of: Run = run): ShownFinding[] => {
    const { findings } = parseFindings(JSON.stringify(items));
    return shownOf(findings, undefined, of).map((shown) => {
      const [name, file = ''] = shown.finding.locations[0]?.path.split('/') ?? [];
      const target = of.targets.findIndex((each) => each.name === name);
      const folder = of.targets[target]?.folder;
      return {
        ...shown,
        uploadedFolder: folder,
        uploaded: [toUploaded(file, { 'a.js': text }, folder ?? '', target)],
      };
    });
  };
  const earlierOf = (verdict: ShownFinding['verdict']): ShownFinding[] =>
    findingsOf([gone], { ...run, id: 'earlier' }).map((each) => ({ ...each, verdict }));

  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'code-scanning-'));
    const [shop, tools] = ['shop', 'tools'].map((name) => path.join(root, 'repository', name));
    for (const folder of [shop!, tools!]) {
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, 'a.js'), text);
    }
    for (const id of ['run', 'earlier'])
      for (const index of [0, 1]) {
        await mkdir(path.join(root, id), { recursive: true });
        await storeManifest(path.join(root, id), index, { 'a.js': text });
      }
    run = {
      ...endedRun({ id: 'run', folder: shop!, ...inventedAccount }),
      targets: [
        { folder: shop!, name: 'shop' },
        { folder: tools!, name: 'tools' },
      ],
    };
    const repository = {
      rootUri: vscode.Uri.file(path.join(root, 'repository')),
      state: { remotes: [{ name: 'origin', fetchUrl: 'https://user:token@github.com/acme/shop.git' }] },
    };
    Object.assign(vscode.extensions, {
      getExtension: () => gitWith(({ fsPath }) => (fsPath.endsWith('shop') ? repository : null)),
    });
  });

  beforeEach(async () => {
    filters = [];
    calls.length = 0;
    const items = [
      { title: 'SQL injection', severity: 'high', cwe: 89, file: 'shop/a.js', line: 2 },
      {
        title: 'Weak hash',
        severity: 'low',
        description: `It holds ${secret}.`,
        file: 'tools/a.js',
        line: 1,
      },
    ];
    await writeFile(path.join(root, 'run', 'findings.json'), JSON.stringify(items));
    await writeFile(path.join(root, 'earlier', 'findings.json'), JSON.stringify([gone]));
    source = { run, shown: findingsOf(items) };
    const findings = storeOfFindings([], {
      read: (of: Run) =>
        Promise.resolve(of.id === run.id ? source : { run: of, shown: earlierOf(undefined) }),
      baselineOf: () => ({ ...run, id: 'earlier' }),
      show: (of: Run) => Promise.resolve(void calls.push(`show ${of.id}`)),
    });
    const filtering = partly<Filtering>({
      passes: ({ finding }: ShownFinding) => finding.severity === 'high',
      filterBy: (filter: Filter) => Promise.resolve(void filters.push(filter)),
    });
    deps = {
      findings,
      runs: partly<RunStore>({ all: () => [run], folderOf: (id: string) => path.join(root, id) }),
      filtering,
      parseWorkerFile: dist('parseWorker.cjs'),
      secretWorkerFile: dist('secretWorker.cjs'),
      tool: { name: 'Whitebox Assessment', version: '1.2.3' },
    };
  });

  after(async () => {
    Object.assign(vscode.extensions, { getExtension });
    await rm(root, { recursive: true, force: true });
  });

  const exportAs = async (form: string): Promise<readonly string[]> => {
    const titles: string[] = [];
    answer({
      showSaveDialog: ({ title = '' }: vscode.SaveDialogOptions) =>
        vscode.Uri.file(path.join(root, `${titles.push(title)}.sarif`)),
    });
    pick(form);
    for (const name of ['1.sarif', '2.sarif']) await rm(path.join(root, name), { force: true });
    await exportFindings('sarif', run, deps);
    return titles;
  };
  const written = async (name: number): Promise<Log> =>
    JSON.parse(await readFile(path.join(root, `${name}.sarif`), 'utf8')) as Log;
  const uris = ({ runs: [log] }: Log): readonly unknown[] =>
    log?.results?.map(({ locations }) => locations?.[0]?.physicalLocation?.artifactLocation?.uri) ?? [];

  it('F151 asks whether to export everything or the filtered findings, and says which it exported', async () => {
    await exportAs('SARIF');
    assert.equal((await written(1)).runs[0]?.results?.length, 2);
    await exportAs('SARIF, Filtered');
    const [part] = (await written(1)).runs;
    assert.equal(part?.results?.length, 1);
    const { findingsHere, findingsInAll } = part.invocations?.[0]?.properties ?? {};
    assert.deepEqual([findingsHere, findingsInAll], [1, 2]);
    assert.deepEqual(shownTexts(), [
      '2 findings saved to 1.sarif. The file contains everything, regardless of the filters.',
      '1 finding saved to 1.sarif. The file contains only what the filters and settings show.',
    ]);
  });

  it('F151 writes a file for each repository, with all findings and no credential, and says where paths start', async () => {
    assert.deepEqual(await exportAs('SARIF for Code Scanning'), [
      'Export Findings for Code Scanning: repository',
      'Export Findings for Code Scanning: tools',
    ]);
    const logs = [await written(1), await written(2)] as const;
    for (const log of logs)
      assert.deepEqual(brokenRules(log, { ...sarifProse, ...codeScanningRules, ...ourRules }), []);
    assert.deepEqual(logs.map(uris), [['shop/a.js'], ['a.js']]);
    assert.deepEqual(
      logs.map(({ runs: [log] }) => [
        log?.automationDetails?.id,
        log?.versionControlProvenance?.[0]?.repositoryUri,
      ]),
      [
        ['whitebox/whitebox-assessment/shop/invented-run', 'https://github.com/acme/shop'],
        ['whitebox/whitebox-assessment/tools/invented-run', undefined],
      ],
    );
    assert.ok(!JSON.stringify(logs).includes(secret));
    assert.match(logs[1].runs[0]?.results?.[0]?.message.text ?? '', /It holds AKIA…/);
    assert.deepEqual(
      messages.shown.map(({ text: shown, isModal }) => [shown, isModal]),
      [
        ['1 finding saved to 1.sarif.', false],
        [
          '1 finding saved to 2.sarif. VS Code found no Git repository for tools, so paths start at that folder.',
          false,
        ],
      ],
    );
  });

  it('F151 asks before GitHub closes findings that are no longer reported where code changed', async () => {
    source = { ...source, absent: [...earlierOf('codeChanged'), ...earlierOf('fileUnchanged')] };
    messages.press = () => 'Review Findings';
    assert.deepEqual(await exportAs('SARIF for Code Scanning'), []);
    const [asked] = messages.shown;
    assert.equal(asked?.text, 'When you upload the file, GitHub closes the alerts of 1 finding.');
    assert.match(
      asked.detail,
      /^Findings with changed code, not reported by this run and not closed by triage: 1 finding\.[^]*closes the alert as fixed/,
    );
    assert.deepEqual([asked.isModal, asked.buttons], [true, ['Export…', 'Review Findings']]);
    assert.deepEqual([calls, filters], [['show run'], [{ verdicts: ['codeChanged'] }]]);
    assert.ok(!existsSync(path.join(root, '1.sarif')));
    messages.press = () => 'Export…';
    await exportAs('SARIF for Code Scanning');
    assert.deepEqual(uris(await written(1)), ['shop/a.js', 'shop/a.js'], 'what may still be there stays in');
  });

  it('F151 asks before exporting a run that may not have found everything, and says what GitHub would close', async () => {
    const mayLack = 'Export the findings of a run that may not have found everything?';
    const closes =
      '[^]*GitHub also closes the alerts of 1 finding from the earlier run “[^]*”, fixed or not\\.$';
    const unreadRuns = [{ ...run, id: 'earlier', label: 'Monday' }];
    const cases: readonly (readonly [Partial<ShownRun>, text: string, detail: string])[] = [
      [{ run: { ...run, state: 'aborted' } as Run }, mayLack, `^The run ended early\\.${closes}`],
      [
        { cut: { shown: 2, total: 60_000 } },
        mayLack,
        `^Only 2 of 60,000 findings can be exported\\.${closes}`,
      ],
      [
        { run: { ...run, input: { pairs: [] } } as unknown as Run },
        mayLack,
        `^The run tested only chosen pairs\\.${closes}`,
      ],
      [
        { unreadRuns },
        'Some earlier runs can’t be read. Export anyway?',
        '^VS Code can’t read the findings of the earlier run “Monday”\\.\n\nIf an upload',
      ],
    ];
    for (const [different, text, detail] of cases) {
      source = { run, shown: source.shown, ...different };
      assert.deepEqual(await exportAs('SARIF for Code Scanning'), []);
      const asked = messages.shown.at(-1)!;
      assert.deepEqual([asked.text, asked.buttons], [text, ['Export…']]);
      assert.match(asked.detail, new RegExp(detail));
    }
  });
});
