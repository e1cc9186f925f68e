import * as z from 'zod/mini';
import { pathKey } from '../../paths.ts';
import { VERDICTS } from '../result/result.ts';
import type { Drift } from '../drift/followLines.ts';
import { type Finding, isAtLeast, SEVERITIES, type Severity } from '../finding.ts';
import { EVIDENCE, leastOf } from '../location/evidence.ts';
import type { ShownFinding } from '../shownFinding.ts';
import { ACCEPTANCE_ENDS, acceptanceEnd } from '../triage/currentDecision.ts';
import { isClosed, TRIAGE_STATES } from '../triage/triage.ts';
import type { BranchChange, BranchState } from './branchChanges.ts';

export interface Display {
  readonly minimumSeverity: Severity;
  readonly hideTriaged: boolean;
}

export function isDisplayed({ finding, triage }: ShownFinding, display: Display): boolean {
  return (
    isAtLeast(finding.severity, display.minimumSeverity) && !(display.hideTriaged && isClosed(triage.state))
  );
}

export interface FilteredFindings {
  readonly displayed: readonly ShownFinding[];
  readonly passing: readonly ShownFinding[];
  readonly belowMinimum: number;
  readonly closed: number;
}

export function applyFilter(
  all: readonly ShownFinding[],
  display: Display,
  passes: (shown: ShownFinding) => boolean,
): FilteredFindings {
  const displayed = all.filter((shown) => isDisplayed(shown, display));
  const belowMinimum = all.filter(
    ({ finding }) => !isAtLeast(finding.severity, display.minimumSeverity),
  ).length;
  return {
    displayed,
    passing: displayed.filter(passes),
    belowMinimum,
    closed: all.length - displayed.length - belowMinimum,
  };
}

/** The first location on this machine counts; `none` means that there is none. */
export const DRIFTS = ['same', 'moved', 'changed', 'gone', 'unknown', 'none'] as const satisfies readonly (
  Drift | 'none'
)[];

/** `none` means that no location has evidence. */
export const EVIDENCE_FILTERS = [...EVIDENCE, 'none'] as const;

export const filterSchema = z.object({
  severities: z.optional(z.array(z.enum(SEVERITIES))),
  triage: z.optional(z.array(z.enum(TRIAGE_STATES))),
  drift: z.optional(z.array(z.enum(DRIFTS))),
  cwes: z.optional(z.array(z.nullable(z.number()))),
  features: z.optional(z.array(z.nullable(z.string()))),
  perspectives: z.optional(z.array(z.nullable(z.string()))),
  /** Folders are absolute and end with `/`. An empty text means no location on this machine. */
  folders: z.optional(z.array(z.string())),
  verdicts: z.optional(z.array(z.enum(VERDICTS))),
  evidence: z.optional(z.array(z.enum(EVIDENCE_FILTERS))),
  owners: z.optional(z.array(z.nullable(z.string()))),
  acceptance: z.optional(z.array(z.enum(ACCEPTANCE_ENDS))),
  changedOnBranch: z.optional(z.boolean()),
  text: z.optional(z.string()),
});
/** A finding must pass every part; an empty part lets everything pass. */
export type Filter = z.infer<typeof filterSchema>;

export type FilterPart = keyof Filter;

export function activeParts(filter: Filter): FilterPart[] {
  const parts = Object.keys(filterSchema.shape) as FilterPart[];
  return parts.filter((part) => {
    const value = filter[part];
    if (typeof value === 'string') return wordsOf(value).length > 0;
    if (typeof value === 'boolean') return value;
    return (value ?? []).length > 0;
  });
}

/**
 * Until the branch's changes are known, `changedOnBranch` lets every finding pass. Every word of
 * `text` must occur in title, summary, paths, CWE, ID, feature, or URL, in any case and width.
 */
export function toPredicate(
  filter: Filter,
  branch: BranchState = { kind: 'pending' },
): (shown: ShownFinding) => boolean {
  const tests = activeParts(filter).map((part) => testOf(part, filter, branch));
  return (shown) => tests.every((test) => test(shown));
}

export type ListPart = Exclude<FilterPart, 'text' | 'changedOnBranch'>;

export type ValueOf<P extends ListPart> = NonNullable<Filter[P]>[number];

export const valuesOf: { readonly [P in ListPart]: (shown: ShownFinding) => readonly ValueOf<P>[] } = {
  severities: ({ finding }) => [finding.severity],
  triage: ({ triage }) => [triage.state],
  drift: ({ locations: [location] }) => [location?.drift ?? 'none'],
  cwes: ({ finding: { cwes } }) => (cwes.length === 0 ? [null] : cwes),
  features: ({ finding }) => [finding.feature ?? null],
  perspectives: ({ finding }) => [finding.perspective ?? null],
  verdicts: ({ verdict }) => (verdict === undefined ? [] : [verdict]),
  acceptance: ({ triage }) => {
    const end = acceptanceEnd(triage, Date.now());
    return end === undefined ? [] : [end];
  },
  evidence: ({ evidence }) => [leastOf(evidence)?.kind ?? 'none'],
  owners: ({ owners = [] }) => (owners === 'unknown' ? [] : owners.length === 0 ? [null] : owners),
  folders: ({ locations: [location] }) => {
    if (location === undefined) return [''];
    const names = location.path.split('/').slice(0, -1);
    const root = location.file.replaceAll('\\', '/').slice(0, -location.path.length);
    return names.map((_, at) => `${root}${names.slice(0, names.length - at).join('/')}/`).concat(root);
  },
};

function testOf(part: FilterPart, filter: Filter, branch: BranchState): (shown: ShownFinding) => boolean {
  if (part === 'changedOnBranch')
    return (shown) => branch.kind !== 'known' || !isHiddenBy(branch.changeOf(shown));
  if (part === 'text') {
    const words = wordsOf(filter.text ?? '');
    // Normalizing the texts of 10,000 findings takes 100 ms, so they are kept.
    const texts = new WeakMap<Finding, string>();
    return ({ finding, locations }) => {
      const text = texts.get(finding) ?? searchText(finding);
      texts.set(finding, text);
      const paths = locations.map(({ path }) => normalized(path));
      return words.every((word) => text.includes(word) || paths.some((path) => path.includes(word)));
    };
  }
  if (part === 'folders') {
    // Absolute paths are compared, since a run's folder may be in another run's folder.
    const wanted = (filter.folders ?? []).map((folder) => pathKey(folder));
    return ({ locations: [location] }) => {
      const file = location && pathKey(location.file);
      return wanted.some((folder) => (folder === '' ? file === undefined : file?.startsWith(folder)));
    };
  }
  const wanted = new Set<unknown>(filter[part]);
  const isUnknown = ({ owners }: ShownFinding): boolean => part === 'owners' && owners === 'unknown';
  return (shown) => valuesOf[part](shown).some((value) => wanted.has(value)) || isUnknown(shown);
}

export function isHiddenBy(change: BranchChange): boolean {
  return change === 'unchanged' || change === 'noFile';
}

/** Line breaks keep a word from matching across two texts. */
function searchText({ title, summary, id, feature = '', url = '', cwes, locations }: Finding): string {
  const paths = locations.map(({ path }) => path);
  const names = cwes.map((cwe) => `CWE-${String(cwe)}`);
  return normalized([title, summary, id, feature, url, ...paths, ...names].join('\n'));
}

function wordsOf(text: string): string[] {
  return normalized(text)
    .split(/\s+/)
    .filter((word) => word !== '');
}

function normalized(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
