import * as z from 'zod/mini';
import { VERDICTS } from '../compare/verdict.ts';
import type { Drift } from '../drift/drift.ts';
import { type Finding, isAtLeast, SEVERITIES, type Severity } from '../finding.ts';
import { EVIDENCE, leastOf } from '../place/evidence.ts';
import type { ShownFinding } from '../shownFinding.ts';
import { ACCEPTANCE_ENDS, acceptanceEnd, isSettled, TRIAGE_STATES } from '../triage/triage.ts';
import type { BranchChange, BranchState } from './branchChanges.ts';

/** Which findings the settings display. */
export interface Display {
  readonly minimumSeverity: Severity;
  /** Leaves out what a person has settled: false positives, accepted risks, fixed findings. */
  readonly hideTriaged: boolean;
}

/** True when the settings display a finding, in Problems and in the Findings view. */
export function isDisplayed({ finding, triage }: ShownFinding, display: Display): boolean {
  return (
    isAtLeast(finding.severity, display.minimumSeverity) && !(display.hideTriaged && isSettled(triage.state))
  );
}

/** Findings in their order, after the settings and after a person's filter, and how many each setting hides. */
export interface FilteredFindings {
  /** Those that the settings display. */
  readonly displayed: readonly ShownFinding[];
  /** Of these, those that pass the filter. */
  readonly passing: readonly ShownFinding[];
  /** How many the minimum severity hides. */
  readonly mild: number;
  /** How many more are hidden because a person has settled them. */
  readonly settled: number;
}

/** Applies the settings, then the filter. */
export function applyFilter(
  all: readonly ShownFinding[],
  display: Display,
  passes: (shown: ShownFinding) => boolean,
): FilteredFindings {
  const displayed = all.filter((shown) => isDisplayed(shown, display));
  const mild = all.filter(({ finding }) => !isAtLeast(finding.severity, display.minimumSeverity)).length;
  return {
    displayed,
    passing: displayed.filter(passes),
    mild,
    settled: all.length - displayed.length - mild,
  };
}

/** What became of a place since the scan, as a filter names it; `none` for a finding without a place here. */
export const DRIFTS = ['same', 'moved', 'changed', 'gone', 'unknown', 'none'] as const satisfies readonly (
  Drift | 'none'
)[];

/** Whether a finding's quotes were sent, as a filter names it; `none` for one that quotes nothing, or is not checked yet. */
export const EVIDENCE_FILTERS = [...EVIDENCE, 'none'] as const;

/** The schema of a stored `Filter`. */
export const filterSchema = z.object({
  severities: z.optional(z.array(z.enum(SEVERITIES))),
  triage: z.optional(z.array(z.enum(TRIAGE_STATES))),
  drift: z.optional(z.array(z.enum(DRIFTS))),
  /** Numbers; `null` for a finding without any. */
  cwes: z.optional(z.array(z.nullable(z.number()))),
  /** Names, and perspectives in the service's words; `null` for a finding without one. */
  features: z.optional(z.array(z.nullable(z.string()))),
  perspectives: z.optional(z.array(z.nullable(z.string()))),
  /** Absolute paths with `/` at their end; an empty one for findings without a place here. */
  folders: z.optional(z.array(z.string())),
  verdicts: z.optional(z.array(z.enum(VERDICTS))),
  evidence: z.optional(z.array(z.enum(EVIDENCE_FILTERS))),
  /** As CODEOWNERS names them; `null` for a finding without one. */
  owners: z.optional(z.array(z.nullable(z.string()))),
  acceptance: z.optional(z.array(z.enum(ACCEPTANCE_ENDS))),
  /** Only findings on lines that differ from the branch's base. */
  changedOnBranch: z.optional(z.boolean()),
  text: z.optional(z.string()),
});
/** Which findings a person wants to see: those that pass every part; an absent or empty part lets everything pass. */
export type Filter = z.infer<typeof filterSchema>;

/** The name of a part of a filter. */
export type FilterPart = keyof Filter;

/** The parts of a filter that are neither absent nor empty. */
export function activeParts(filter: Filter): FilterPart[] {
  const parts = Object.keys(filterSchema.shape) as FilterPart[];
  return parts.filter((part) => {
    const value = filter[part];
    if (typeof value === 'string') return wordsOf(value).length > 0;
    if (typeof value === 'boolean') return value;
    return (value ?? []).length > 0;
  });
}

/** A test of single findings; as long as the branch's changes aren't known, that part lets everything pass. The text is looked for word by word, without regard to case and width, in title, description, path, CWE, id, feature and URL. */
export function toPredicate(
  filter: Filter,
  branch: BranchState = { kind: 'pending' },
): (shown: ShownFinding) => boolean {
  const tests = activeParts(filter).map((part) => testOf(part, filter, branch));
  return (shown) => tests.every((test) => test(shown));
}

/** Findings by the last day of their acceptance, the earliest first. */
export function byEnd(shown: readonly ShownFinding[]): readonly ShownFinding[] {
  return shown.toSorted((one, other) => {
    const [first, second] = [one.triage.until ?? '', other.triage.until ?? ''];
    return first === second ? 0 : first < second ? -1 : 1;
  });
}

/** The parts of a filter that list what a finding may have. */
export type ListPart = Exclude<FilterPart, 'text' | 'changedOnBranch'>;

/** One of the values that such a part lists. */
export type ValueOf<P extends ListPart> = NonNullable<Filter[P]>[number];

/** What a finding has of each part, as the filter names it. */
export const valuesOf: { readonly [P in ListPart]: (shown: ShownFinding) => readonly ValueOf<P>[] } = {
  severities: ({ finding }) => [finding.severity],
  triage: ({ triage }) => [triage.state],
  drift: ({ places: [place] }) => [place?.drift ?? 'none'],
  cwes: ({ finding: { cwes } }) => (cwes.length === 0 ? [null] : cwes),
  features: ({ finding }) => [finding.feature ?? null],
  perspectives: ({ finding }) => [finding.perspective ?? null],
  verdicts: ({ verdict }) => (verdict === undefined ? [] : [verdict]),
  acceptance: ({ triage }) => {
    const end = acceptanceEnd(triage, Date.now());
    return end === undefined ? [] : [end];
  },
  evidence: ({ evidence }) => [leastOf(evidence)?.kind ?? 'none'],
  owners: ({ owners = [] }) => (owners.length === 0 ? [null] : owners),
  /** The folders that hold its main place, from its own up to the run's. */
  folders: ({ places: [place] }) => {
    if (place === undefined) return [''];
    const names = place.path.split('/').slice(0, -1);
    const root = withSlashes(place.file).slice(0, -place.path.length);
    return names.map((_, at) => `${root}${names.slice(0, names.length - at).join('/')}/`).concat(root);
  },
};

function testOf(part: FilterPart, filter: Filter, branch: BranchState): (shown: ShownFinding) => boolean {
  if (part === 'changedOnBranch') {
    if (branch.kind !== 'known') return () => true;
    return (shown) => !isHiddenBy(branch.changeOf(shown));
  }
  if (part === 'text') {
    const words = wordsOf(filter.text ?? '');
    // Reading the texts of 10,000 findings takes a tenth of a second: once is enough.
    const known = new WeakMap<ShownFinding, boolean>();
    return (shown) => {
      const answer = known.get(shown) ?? hasWords(searchText(shown), words);
      known.set(shown, answer);
      return answer;
    };
  }
  if (part === 'folders') {
    // The folder of one run may lie in that of another.
    const wanted = filter.folders ?? [];
    return ({ places: [place] }) => {
      const file = place && withSlashes(place.file);
      return wanted.some((folder) => (folder === '' ? file === undefined : file?.startsWith(folder)));
    };
  }
  const wanted = new Set<unknown>(filter[part]);
  return (shown) => valuesOf[part](shown).some((value) => wanted.has(value));
}

/** True for a finding that *Changed on this branch* hides. */
export function isHiddenBy(change: BranchChange): boolean {
  return change === 'unchanged' || change === 'noFile';
}

function hasWords(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}

/** The texts of a finding in which a search looks, so that no word can reach from one into the next. */
function searchText({ finding, places }: ShownFinding): string {
  const paths = places.length > 0 ? places.map(({ path }) => path) : finding.places.map(({ path }) => path);
  return normalized(
    [
      finding.title,
      finding.description,
      finding.id,
      finding.feature ?? '',
      finding.url ?? '',
      ...paths,
      ...cwesOf(finding),
    ].join('\n'),
  );
}

function cwesOf({ cwes }: Finding): string[] {
  return cwes.map((cwe) => `CWE-${String(cwe)}`);
}

function wordsOf(text: string): string[] {
  return normalized(text)
    .split(/\s+/)
    .filter((word) => word !== '');
}

function normalized(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

function withSlashes(file: string): string {
  return file.replaceAll('\\', '/');
}
