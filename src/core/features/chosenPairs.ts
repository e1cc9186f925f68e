import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { AssessmentError } from '../errors.ts';
import { readIfThere, writeFileAtomic } from '../files.ts';
import type { Run } from '../run/state/run.ts';
import { type Feature, readFeatures } from './features.ts';
import { type ApplicationInput, prioritySchema } from '../workflows/blackboxInput.ts';
import { type Perspective, perspectives } from '../workflows/perspectives.ts';

/** The service's limit for one request (docs/api.md, section 8). */
export const maxPairs = 10_000;

/** Null leaves the order to the service. */
export type Priority = z.infer<typeof prioritySchema> | null;

export interface Pair {
  readonly feature: string;
  readonly perspective: Perspective;
}

export type Choice = ReadonlyMap<string, ReadonlyMap<Perspective, Priority>>;

export type PairsFault = 'none' | 'tooMany' | 'gone' | 'damaged';

export function pairsOf(features: readonly Pick<Feature, 'name'>[]): readonly Pair[] {
  return features.flatMap(({ name }) => perspectives.map((perspective) => ({ feature: name, perspective })));
}

export function everyPair(features: readonly Feature[]): Choice {
  return withPairs(new Map(), pairsOf(features), true);
}

/** Without a `priority`, pairs that were already chosen keep theirs. */
export function withPairs(
  choice: Choice,
  pairs: readonly Pair[],
  isChosen: boolean,
  priority?: Priority,
): Choice {
  const next = new Map<string, Map<Perspective, Priority>>();
  for (const { feature, perspective } of pairs) {
    const chosen = next.get(feature) ?? new Map(choice.get(feature));
    next.set(feature, chosen);
    if (!isChosen) chosen.delete(perspective);
    else chosen.set(perspective, priority === undefined ? (chosen.get(perspective) ?? null) : priority);
  }
  return new Map([...new Map([...choice, ...next])].filter(([, chosen]) => chosen.size > 0));
}

export function isChosen(choice: Choice, { feature, perspective }: Pair): boolean {
  return choice.get(feature)?.has(perspective) ?? false;
}

export function countChosen(choice: Choice, features: readonly Feature[]): number {
  return features.reduce((sum, { name }) => sum + (choice.get(name)?.size ?? 0), 0);
}

export function missingFeatures(choice: Choice, features: readonly Feature[]): string[] {
  const names = new Set(features.map(({ name }) => name));
  return [...choice.keys()].filter((name) => !names.has(name));
}

/** Undefined if all pairs are chosen without priorities (docs/api.md, section 2.7, rule 3). */
export function toPairs(choice: Choice, features: readonly Feature[]): ApplicationInput['pairs'] {
  const [fault] = faultsOf(choice, features);
  if (fault !== undefined) throw new AssessmentError('badPairs', { subject: fault });
  if (isEverything(choice, features)) return undefined;
  return [...choice].flatMap(([feature_name, chosen]) =>
    [...chosen].map(([perspective, priority]) => ({
      feature_name,
      perspective,
      ...(priority === null ? {} : { priority }),
    })),
  );
}

export function faultsOf(choice: Choice, features: readonly Feature[]): readonly PairsFault[] {
  const count = countChosen(choice, features);
  const isTooMany = count > maxPairs && !isEverything(choice, features);
  return [
    ...(missingFeatures(choice, features).length > 0 ? (['gone'] as const) : []),
    ...(count === 0 ? (['none'] as const) : []),
    ...(isTooMany ? (['tooMany'] as const) : []),
  ];
}

function isEverything(choice: Choice, features: readonly Feature[]): boolean {
  const hasPriority = [...choice.values()].some((chosen) =>
    [...chosen.values()].some((each) => each !== null),
  );
  return !hasPriority && countChosen(choice, features) === features.length * perspectives.length;
}

const fileName = 'chosen-pairs.json';
const fileSchema = z.array(
  z.tuple([z.string(), z.array(z.tuple([z.enum(perspectives), z.nullable(prioritySchema)]))]),
);

export async function readChoice(folder: string): Promise<Choice | undefined> {
  const text = await readIfThere(join(folder, fileName));
  if (text === undefined) return undefined;
  try {
    const entries = fileSchema.parse(JSON.parse(text));
    return new Map(entries.map(([name, chosen]) => [name, new Map(chosen)]));
  } catch (cause) {
    throw new AssessmentError('badPairs', { subject: 'damaged' satisfies PairsFault }, { cause });
  }
}

export async function writeChoice(folder: string, choice: Choice): Promise<void> {
  const entries = [...choice].map(([name, chosen]) => [name, [...chosen]]);
  await writeFileAtomic(join(folder, fileName), JSON.stringify(entries));
}

type Pairs = NonNullable<ApplicationInput['pairs']>;

/** `unknown` means that the run's input isn't on this machine. */
export function askedPairs({ workflow, input }: Run): Pairs | 'all' | 'unknown' {
  if (workflow === 'blackbox-crawl') return 'all';
  return input === undefined ? 'unknown' : (input.pairs ?? 'all');
}

export function isOnlyPairOf({ input }: Pick<Run, 'input'>, pairs: Pairs): boolean {
  const namesOf = (all: Pairs = []) => all.map((pair) => [pair.feature_name, pair.perspective]);
  return pairs.length === 1 && isDeepStrictEqual(namesOf(pairs), namesOf(input?.pairs));
}

export function defaultChoice(run: Run, features: readonly Feature[]): Choice {
  const asked = askedPairs(run);
  if (asked === 'all') return everyPair(features);
  const pairs = asked === 'unknown' ? [] : asked;
  return pairs.reduce<Choice>(
    (choice, { feature_name: feature, perspective, priority = null }) =>
      withPairs(choice, [{ feature, perspective }], true, priority),
    new Map(),
  );
}

export async function pairsToContinue(
  run: Run,
  folder: string,
  workerFile: string | URL,
): Promise<Pairs | 'all' | 'unknown'> {
  const choice = await readChoice(folder);
  // The run's own pairs were valid when it started. Its features, which this machine may lack,
  // aren't needed.
  if (choice === undefined && run.workflow !== 'blackbox-crawl') return askedPairs(run);
  const { features } = await readFeatures(run, folder, workerFile);
  return toPairs(choice ?? everyPair(features), features) ?? 'all';
}
