import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ShownFinding } from '../../../../src/core/findings/shownFinding.ts';
import { ProblemFiles } from '../../../../src/core/findings/view/problemFiles.ts';
import { hiddenFromProblems, problemsByFile } from '../../../../src/core/findings/view/problems.ts';
import { invent } from '../shownFindings.ts';

interface Panel {
  readonly files: ProblemFiles;
  /** What stands in the panel, by file: the findings' indexes. */
  readonly stands: Map<string, readonly number[]>;
  /** The files that were handed over, in order. */
  readonly handed: string[];
  /** What takes a step, in milliseconds. */
  stepMs: number;
}

function makePanel(): Panel {
  let now = 0;
  const panel: Panel = {
    stands: new Map(),
    handed: [],
    stepMs: 0,
    files: new ProblemFiles({
      now: () => now,
      put: function* (file, shown) {
        for (let left = shown.length; left > 0; left -= 1) {
          now += panel.stepMs;
          yield;
        }
        panel.handed.push(file);
        if (shown.length === 0) panel.stands.delete(file);
        else
          panel.stands.set(
            file,
            shown.map(({ finding }) => finding.index),
          );
      },
    }),
  };
  return panel;
}

function findings(count: number, files: number): ShownFinding[] {
  return Array.from({ length: count }, (_, index) =>
    invent({ index, at: { path: `file${String(index % files)}.js`, line: 1 + index } }),
  );
}

const fileOf = (name: string): string => `/home/dev/shop/${name}`;

describe('problems, file by file', () => {
  test('few findings stand at once', () => {
    const panel = makePanel();
    void panel.files.showAll(problemsByFile(findings(4, 2)));
    assert.deepEqual(
      [...panel.stands.values()],
      [
        [0, 2],
        [1, 3],
      ],
    );
  });

  test('files whose problems are equal are not handed over again; those that are gone are cleared', async () => {
    const panel = makePanel();
    const all = findings(6, 3);
    await panel.files.showAll(problemsByFile(all));
    panel.handed.length = 0;
    const moved = { ...all[4]!, places: [{ ...all[4]!.places[0]!, startLine: 99 }] };
    await panel.files.showAll(problemsByFile([all[0]!, all[1]!, all[3]!, moved]));
    assert.deepEqual(panel.handed.sort(), [fileOf('file1.js'), fileOf('file2.js')]);
    assert.deepEqual(panel.stands.get(fileOf('file2.js')), undefined);
  });

  test('a change in some files hands over those and no others', async () => {
    const panel = makePanel();
    const all = findings(6, 3);
    await panel.files.showAll(problemsByFile(all));
    panel.handed.length = 0;
    await panel.files.showFiles([fileOf('file0.js')], problemsByFile([all[0]!]));
    assert.deepEqual(panel.handed, [fileOf('file0.js')]);
    await panel.files.showFiles([fileOf('file1.js')], new Map());
    assert.deepEqual(
      [...panel.stands],
      [
        [fileOf('file0.js'), [0]],
        [fileOf('file2.js'), [2, 5]],
      ],
    );
  });

  test('many findings come in slices, and a newer call ends an older', async () => {
    const panel = makePanel();
    panel.stepMs = 1;
    const done = panel.files.showAll(problemsByFile(findings(100, 20)));
    assert.ok(panel.handed.length >= 1 && panel.handed.length < 4, 'the first slice is short');
    await panel.files.showAll(problemsByFile(findings(3, 1)));
    await done;
    assert.deepEqual([...panel.stands], [[fileOf('file0.js'), [0, 1, 2]]]);
    assert.ok(panel.handed.length < 10, 'the rest of the first call was not done');
  });

  test('a file that changes while it is being handed over ends as it was wanted last', async () => {
    const panel = makePanel();
    panel.stepMs = 1;
    const all = findings(40, 1);
    const done = panel.files.showAll(problemsByFile(all));
    assert.equal(panel.stands.size, 0, 'it takes longer than a slice');
    void panel.files.showFiles([fileOf('file0.js')], problemsByFile(all.slice(0, 2)));
    await done;
    assert.deepEqual([...panel.stands], [[fileOf('file0.js'), [0, 1]]]);
  });

  test('nothing is handed over once it was let go', async () => {
    const panel = makePanel();
    panel.stepMs = 1;
    const done = panel.files.showAll(problemsByFile(findings(40, 1)));
    panel.files.dispose();
    await done;
    assert.deepEqual(panel.handed, []);
  });

  test('what Problems does not show is counted: kept back by settings, no place, code that is gone, more than 1,000 in a file', () => {
    const shown = [
      ...findings(1_200, 1),
      invent({ index: 2_000 }),
      invent({ index: 2_001, at: { path: 'other.js', line: 1, drift: 'gone' } }),
      invent({ index: 2_002, at: { path: 'other.js', line: 1, drift: 'changed' } }),
      invent({ index: 2_003, at: { path: 'settled.js', line: 1 }, state: 'acceptedRisk' }),
      invent({ index: 2_004, at: { path: 'settled.js', line: 1, drift: 'gone' }, state: 'acceptedRisk' }),
    ];
    const display = { minimumSeverity: 'none', hideTriaged: true } as const;
    assert.equal(hiddenFromProblems(shown, display), 204);
    assert.equal(hiddenFromProblems(shown, { ...display, hideTriaged: false }), 203);
    assert.equal(hiddenFromProblems(shown, { ...display, minimumSeverity: 'critical' }), shown.length);
    assert.deepEqual(
      problemsByFile(shown)
        .get(fileOf('other.js'))
        ?.map(({ finding }) => finding.index),
      [2_002],
    );
  });
});
