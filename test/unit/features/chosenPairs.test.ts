import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AssessmentError } from '../../../src/core/errors.ts';
import { toFeatures } from '../../../src/core/features/features.ts';
import {
  type Choice,
  countChosen,
  defaultChoice,
  everyPair,
  missingFeatures,
  isOnlyPairOf,
  pairsOf,
  pairsToContinue,
  readChoice,
  toPairs,
  withPairs,
  writeChoice,
} from '../../../src/core/features/chosenPairs.ts';
import { propertyRuns } from '../core/propertyRuns.ts';
import { tempFolder } from '../run/tempFolder.ts';
import { parseWorker } from '../findings/parse/bundledWorker.ts';
import { crawledWith } from './crawledRun.ts';

const crawled = crawledWith('features');
const { features } = toFeatures([{ name: 'Log in' }, { name: 'Search\n' }]);
const xss = (feature: string) => ({ feature, perspective: 'XSS' }) as const;
const none: Choice = new Map();
const withFault = (subject: string) => (error: AssessmentError) =>
  error.kind === 'badPairs' && error.data.subject === subject;

test('all pairs without priorities are sent as no list, and fewer as they are', () => {
  assert.equal(toPairs(everyPair(features), features), undefined);
  const fewer = withPairs(everyPair(features), pairsOf(features).slice(0, 20), false);
  assert.equal(countChosen(fewer, features), 2);
  assert.deepEqual(toPairs(fewer, features), [
    { feature_name: 'Search\n', perspective: 'Clickjacking' },
    { feature_name: 'Search\n', perspective: 'CORS' },
  ]);
});

test('a priority is sent with its pair, also if all pairs are chosen', () => {
  const choice = withPairs(everyPair(features), [xss('Log in')], true, 'high');
  const pairs = toPairs(choice, features) ?? [];
  assert.equal(pairs.length, 22);
  assert.deepEqual(
    pairs.filter(({ priority }) => priority !== undefined),
    [{ feature_name: 'Log in', perspective: 'XSS', priority: 'high' }],
  );
});

test('a pair chosen again keeps its priority until it is changed or removed', () => {
  const high = withPairs(none, [xss('Log in')], true, 'high');
  const again = withPairs(high, pairsOf(features), true);
  assert.equal(again.get('Log in')?.get('XSS'), 'high');
  assert.equal(toPairs(withPairs(again, [xss('Log in')], true, null), features), undefined);
  assert.deepEqual(withPairs(high, [xss('Log in')], false), none);
});

test('F136 of 10,010 pairs all can be sent, or 10,000, but not 10,001', () => {
  const many = toFeatures(Array.from({ length: 910 }, (_, at) => ({ name: `Feature ${at}` }))).features;
  const without = (count: number): Choice => withPairs(everyPair(many), pairsOf(many).slice(0, count), false);
  assert.equal(toPairs(without(0), many), undefined);
  assert.throws(() => toPairs(without(9), many), withFault('tooMany'));
  assert.equal(toPairs(without(10), many)?.length, 10_000);
  const high = withPairs(everyPair(many), [xss('Feature 1')], true, 'high');
  assert.throws(() => toPairs(high, many), withFault('tooMany'));
});

test('F136 an empty choice or an unknown name is refused', () => {
  assert.throws(() => toPairs(none, features), withFault('none'));
  assert.throws(() => toPairs(everyPair([]), []), withFault('none'));
  const choice = withPairs(everyPair(features), [xss('Search')], true);
  assert.deepEqual(missingFeatures(choice, features), ['Search']);
  assert.throws(() => toPairs(choice, features), withFault('gone'));
});

test('F143 a continuation uses the pairs of the continued run until the user chooses', async (t) => {
  const folder = await tempFolder(t);
  const pairs = [
    { feature_name: 'Search\n', perspective: 'XSS' as const },
    { feature_name: 'Search\n', perspective: 'CORS' as const, priority: 'high' as const },
  ];
  const assessed = { ...crawled, workflow: 'blackbox-assessment' as const };
  const input = { target_urls: ['https://shop.example.test/'] };
  for (const [run, expected] of [
    [{ ...assessed, input: { ...input, pairs } }, pairs],
    [{ ...assessed, input }, 'all'],
    [{ ...assessed, input: undefined }, 'unknown'],
  ] as const) {
    assert.deepEqual(await pairsToContinue(run, folder, parseWorker), expected);
    const chosen = defaultChoice(run, features);
    const asked = expected === 'unknown' ? [] : toPairs(chosen, features);
    assert.deepEqual(asked ?? 'all', expected === 'unknown' ? [] : expected);
    assert.equal(chosen.size === 0, expected === 'unknown');
  }
  await writeFile(join(folder, 'features.json'), JSON.stringify(features));
  await writeChoice(folder, withPairs(none, [xss('Log in')], true));
  assert.deepEqual(await pairsToContinue({ ...assessed, input: { ...input, pairs } }, folder, parseWorker), [
    { feature_name: 'Log in', perspective: 'XSS' },
  ]);
});

test('F143 a continuation of one pair is for the same finding only if it has the same pair', () => {
  const pair = { feature_name: 'Log in', perspective: 'XSS' } as const;
  const other = { feature_name: 'Search', perspective: 'XSS' } as const;
  const run = { input: { target_urls: [], pairs: [pair] } };
  assert.ok(isOnlyPairOf(run, [{ ...pair, priority: 'high' }]));
  for (const pairs of [[], [other], [{ ...pair, perspective: 'CORS' as const }], [pair, other]])
    assert.ok(!isOnlyPairOf(run, pairs), JSON.stringify(pairs));
  assert.ok(!isOnlyPairOf({ input: { target_urls: [], pairs: [pair, other] } }, [pair]));
  assert.ok(!isOnlyPairOf({ input: undefined }, [pair]));
});

test('the choice is stored in the run folder; by default all pairs of a crawl are chosen', async (t) => {
  const folder = await tempFolder(t);
  await writeFile(join(folder, 'features.json'), JSON.stringify(features));
  assert.equal(await readChoice(folder), undefined);
  assert.equal(await pairsToContinue(crawled, folder, parseWorker), 'all');

  const choice = withPairs(withPairs(none, [xss('Search\n')], true), [xss('Log in')], true, 'low');
  await writeChoice(folder, choice);
  assert.deepEqual(await readChoice(folder), choice);
  assert.deepEqual(await pairsToContinue(crawled, folder, parseWorker), [
    { feature_name: 'Search\n', perspective: 'XSS' },
    { feature_name: 'Log in', perspective: 'XSS', priority: 'low' },
  ]);
  assert.deepEqual((await readdir(folder)).toSorted(), ['chosen-pairs.json', 'features.json']);

  await writeFile(join(folder, 'features.json'), '[{"name":"Log in"}]');
  await assert.rejects(pairsToContinue(crawled, folder, parseWorker), withFault('gone'));
});

test('F136 a damaged choice is never read as none or all', async (t) => {
  const folder = await tempFolder(t);
  await writeFile(join(folder, 'features.json'), JSON.stringify(features));
  for (const text of ['', '{}', '[["Log in",[["Unknown",null]]]]', '[["Log in",[["XSS","urgent"]]]]']) {
    await writeFile(join(folder, 'chosen-pairs.json'), text);
    await assert.rejects(pairsToContinue(crawled, folder, parseWorker), withFault('damaged'), text);
  }
});

test('any sequence of choosing and unchoosing equals a set of pairs', () => {
  const known = pairsOf([...features, { name: '__proto__' }]);
  const step = fc.record({
    pairs: fc.array(fc.constantFrom(...known)),
    isChosen: fc.boolean(),
    priority: fc.constantFrom('high', null, undefined),
  });
  const keyOf = ({ feature, perspective }: (typeof known)[0]): string => `${feature} ${perspective}`;
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const expected = new Set<string>();
      let choice = none;
      for (const { pairs, isChosen, priority } of steps) {
        choice = withPairs(choice, pairs, isChosen, priority);
        for (const pair of pairs) expected[isChosen ? 'add' : 'delete'](keyOf(pair));
      }
      const chosen = known.filter(({ feature, perspective }) => choice.get(feature)?.has(perspective));
      assert.deepEqual(chosen.map(keyOf).toSorted(), [...expected].toSorted());
      assert.ok([...choice.values()].every(({ size }) => size > 0));
    }),
    { numRuns: propertyRuns(200) },
  );
});
