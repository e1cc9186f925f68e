import type { BlockKind, PlaceRole, Severity } from '../finding.ts';
import { type KeyPath, keyPaths } from '../../json.ts';

/*
 * Where each part of a finding may be written. The schema of findings.json is not published, so every plausible name is
 * listed here and one reader follows the list. Keys compare in lower case without `_`, `-` and spaces; a dot goes one object
 * deeper; of several aliases the first usable one wins. Three roots are not names but shapes: `extra.` is Semgrep's,
 * `rule.` the rule that a SARIF result refers to, `properties.` SARIF's property bag.
 */

/** Keys of a wrapper object that may hold the list of findings. */
export const LIST = keyPaths('findings vulnerabilities results issues items data alerts');

/** The finding's own id. */
export const ID = keyPaths('id finding_id vulnerability_id uuid guid fingerprint number');

/** One line that names the finding. */
export const TITLE = keyPaths(`
  title name summary rule_name type category rule.short_description rule.name check_id rule_id
  rule.id
`);

/** The rule of the tool that reports the finding. */
export const RULE = keyPaths('rule_id check_id rule.id');

/** Names that say nothing but a rating. */
export const SEVERITY_NAMES = keyPaths('severity severity_level risk risk_level level');

/** The rating in words or numbers. */
export const SEVERITY = keyPaths(`
  severity severity_level risk risk_level properties.security-severity
  rule.properties.security-severity level priority impact extra.severity
  rule.default_configuration.level
`);

/** Aliases of the rating that are otherwise a rank or prose: they only count when they hold a known word and nothing else. */
export const SEVERITY_WORDS_ONLY: ReadonlySet<string> = new Set(['priority', 'impact']);

/** Where a rating object keeps its word or number. */
export const SEVERITY_PARTS = keyPaths('level value name score');

/** Words for each severity, in lower case. */
export const SEVERITY_WORDS: ReadonlyMap<string, Severity> = new Map(
  Object.entries({
    critical: ['critical', '重大', 'blocker'],
    high: ['high', '高', 'error', 'important'],
    medium: ['medium', '中', 'moderate', 'warning'],
    low: ['low', '低', 'minor', 'note'],
    none: ['none', 'なし', 'info', 'informational', '情報'],
  } satisfies Partial<Record<Severity, string[]>>).flatMap(([severity, words]) =>
    words.map((word) => [word, severity as Severity] as const),
  ),
);

/** The main prose. */
export const DESCRIPTION = keyPaths(`
  description details detail message explanation rationale overview body extra.message
  rule.full_description
`);

/** Prose that is a title when there is no better one, and part of the story otherwise. */
export const SUMMARY = keyPaths('summary');

/** Prose beside the description, in the order in which it is shown. */
export const BLOCKS: readonly { readonly kind: BlockKind; readonly paths: readonly KeyPath[] }[] = [
  { kind: 'impact', paths: keyPaths('impact extra.metadata.impact') },
  { kind: 'exploitScenario', paths: keyPaths('exploit_scenario') },
  { kind: 'attackScenario', paths: keyPaths('attack_scenario') },
  { kind: 'evidence', paths: keyPaths('evidence') },
  { kind: 'reproductionSteps', paths: keyPaths('reproduction_steps') },
  { kind: 'proofOfConcept', paths: keyPaths('poc') },
];

/** What to do about it. */
export const RECOMMENDATION = keyPaths(`
  recommendation recommendations remediation solution fix suggested_fix mitigation countermeasure
  countermeasures how_to_fix extra.fix rule.help
`);

/** Keys under which places are found. */
export interface PlaceSource {
  readonly paths: readonly KeyPath[];
  readonly role?: PlaceRole;
  /**
   * How far a bare string there is believed to be a path: `files` any name, `places` what looks like a path, `flow` only a
   * path with folders or a line, for these keys more often hold code (`cursor.execute`), prose or a tool's name.
   */
  readonly strings: 'files' | 'places' | 'flow';
}

/** Where the places of a finding stand; its own fields come next when these have none. */
export const MAIN_PLACES: readonly PlaceSource[] = [
  {
    strings: 'places',
    paths: keyPaths('locations location affected_locations code_locations occurrences'),
  },
  { strings: 'files', paths: keyPaths('affected_files files') },
  { strings: 'places', paths: keyPaths('code_snippets') },
];

/** Where places are that explain the finding. */
export const OTHER_PLACES: readonly PlaceSource[] = [
  { strings: 'flow', role: 'evidence', paths: keyPaths('evidence') },
  { strings: 'flow', role: 'step', paths: keyPaths('nodes') },
  { strings: 'flow', role: 'source', paths: keyPaths('source') },
  { strings: 'flow', role: 'sink', paths: keyPaths('sink') },
  { strings: 'flow', role: 'step', paths: keyPaths('trace code_flows') },
  { strings: 'flow', role: 'related', paths: keyPaths('related_locations') },
];

/** Objects inside a place that hold the place itself, or several. */
export const PLACE_CONTAINERS = keyPaths(
  'physical_location location locations thread_flows steps nodes occurrences',
);

/** The file of a place. */
export const FILE = keyPaths(`
  file file_path path filename relative_path uri source_file ref artifact_location.uri
`);

/** The first line as a number of its own. */
export const START_LINE = keyPaths(`
  start_line line_start line line_number lineno begin_line from region.start_line line.start
  line.begin lines.start lines.begin line_range.start
`);

/** The last line as a number of its own. */
export const END_LINE = keyPaths('end_line line_end to region.end_line line.end lines.end line_range.end');

/** Both lines in one value: `[a, b]` or `"12-20"`. */
export const LINE_RANGE = keyPaths('lines line_range line');

/** Objects with a line and a column; one that has `character` counts both from 0, as language servers do. */
export const START_POSITION = keyPaths('start begin range.start');

/** The same for the end. */
export const END_POSITION = keyPaths('end range.end');

/** The line inside such an object. */
export const POSITION_LINE = keyPaths('line');

/** Its column, where both count from 1. */
export const POSITION_COLUMN = keyPaths('column col');

/** Its column, where both count from 0. */
export const POSITION_CHARACTER = keyPaths('character');

/** The first column. */
export const START_COLUMN = keyPaths('column col start_column region.start_column');

/** The last column. */
export const END_COLUMN = keyPaths('end_column region.end_column');

/** Code that stands at the place; `lines` counts when it is text. */
export const SNIPPET = keyPaths('snippet code code_snippet region.snippet extra.lines lines');

/** What stands in the place of code and is none: Semgrep's CLI writes it without an account. */
export const NO_SNIPPET = 'requires login';

/** What a place says about itself. */
export const PLACE_LABEL = keyPaths('label message description rationale explanation note reason');

/** What a place is to its finding, where it says so itself and not by the key it stands under. */
export const PLACE_ROLE = keyPaths('role');

/** Which uploaded archive a place is in. */
export const TARGET_INDEX = keyPaths('target_index archive_index target');

/** CWE numbers under a name of their own: bare numbers count. */
export const CWE = keyPaths('cwe cwe_id cwe_ids cwes properties.cwe extra.metadata.cwe rule.properties.cwe');

/** Lists that hold CWE numbers among other things: only what says that it is one counts. */
export const CWE_AMONG = keyPaths(
  'identifiers tags taxa properties.tags rule.properties.tags rule.relationships',
);

/** Where an object that stands for a CWE keeps its number. */
export const CWE_PARTS = keyPaths('id cwe_id value number name title target.id');

/** Where an object says that it is a CWE. */
export const CWE_KIND = keyPaths('type tool_component.name target.tool_component.name');

/** The CVSS score. */
export const CVSS_SCORE = keyPaths('cvss cvss_score score cvss.score cvss.base_score');

/** The CVSS vector. */
export const CVSS_VECTOR = keyPaths('cvss.vector cvss.vector_string vector_string cvss_vector cvss');

/** The feature of a live application. */
export const FEATURE = keyPaths('feature_name feature.name feature');

/** The perspective from which a feature was tested. */
export const PERSPECTIVE = keyPaths('perspective');

/** The HTTP method of the request that shows a finding. */
export const METHOD = keyPaths('method http_method request.method');

/** The address of that request. */
export const URL_TEXT = keyPaths('url request.url');

/** How sure the finding is; where a finding says so, numbers up to 1 are no scores. */
export const CONFIDENCE = keyPaths(`
  confidence confidence_level confidence_score probability extra.metadata.confidence
`);
