import { areAlike, type Identity } from '../identity.ts';
import type { ResultFinding } from './result.ts';

type Chain = Pick<ResultFinding, 'sameAs' | 'likely'>;

/** The runs that `Elsewhere` of one result refers to. */
export class RunTable {
  readonly runs: string[] = [];
  readonly #positions = new Map<string, number>();
  /** By the table of an earlier result: the positions here. */
  readonly #moved = new Map<readonly string[], readonly number[]>();

  positionOf(run: string): number {
    const known = this.#positions.get(run);
    if (known !== undefined) return known;
    this.#positions.set(run, this.runs.length);
    return this.runs.push(run) - 1;
  }

  /** The identity of an earlier result, with positions in this table. */
  move(identity: Identity): Identity {
    const { elsewhere } = identity;
    if (elsewhere === undefined || elsewhere.runs === this.runs) return identity;
    const positions = this.#moved.get(elsewhere.runs) ?? elsewhere.runs.map((run) => this.positionOf(run));
    this.#moved.set(elsewhere.runs, positions);
    const at = elsewhere.at.map((each, place) => (place % 2 === 0 ? (positions[each] ?? 0) : each));
    return { ...identity, elsewhere: { runs: this.runs, at } };
  }
}

export function movedChain({ sameAs, likely }: Chain, table: RunTable): Chain {
  return { sameAs: sameAs.map((each) => table.move(each)), likely: likely.map((each) => table.move(each)) };
}

/** The chain of a finding that is paired with an earlier one. Beyond an uncertain pair, no decision carries over. */
export function continueChain(
  earlier: Chain & { readonly identity: Identity },
  carriesDecision: boolean,
  table: RunTable,
): Chain {
  const { sameAs, likely } = movedChain(earlier, table);
  if (carriesDecision) return { sameAs: withLatest(earlier.identity, sameAs, table), likely };
  return { sameAs: [], likely: withLatest(earlier.identity, [...sameAs, ...likely], table) };
}

/** Puts an identity first. Each wording is there once, with all the places where a run has it. */
function withLatest(latest: Identity, identities: readonly Identity[], table: RunTable): readonly Identity[] {
  const alike = identities.find((each) => areAlike(each, latest));
  if (alike === undefined) return [latest, ...identities];
  const at = [table.positionOf(alike.run), alike.index, ...(alike.elsewhere?.at ?? [])];
  const others = identities.filter((each) => each !== alike);
  return [{ ...latest, elsewhere: { runs: table.runs, at } }, ...others];
}
