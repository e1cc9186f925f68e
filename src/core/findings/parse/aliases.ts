import type { BlockKind, LocationRole, Severity } from '../finding.ts';
import { type KeyPath, keyPaths } from '../../json.ts';
import type { TextStyle } from './freeText.ts';
import type { PathBelief } from './pathText.ts';

/**
 * This table lists the names of each part of a finding, the best first. The schema of findings.json
 * is not published, so plausible names are listed. Keys are compared by `normalKey`; a dot
 * means a nested object. `extra.` is Semgrep's object, `rule.` is the rule that a SARIF result
 * refers to, and `properties.` is SARIF's property bag.
 */

/** An array under these keys is not a list of findings, even if its items look like findings. */
export const NO_FINDINGS: ReadonlySet<string> = new Set(['errors', 'recommendations', 'references', 'rules']);

export const OUTCOME = keyPaths('kind status status_code result check_result.result compliance.status');

export const PASSES: ReadonlySet<string> = new Set(['pass', 'passed', 'notapplicable']);
export const ID = keyPaths('id finding_id vulnerability_id uuid guid fingerprint number');

export const TITLE = keyPaths(`
  title name summary rule_name check_name test_name type category rule.short_description rule.name
  check_id rule_id rule.id
`);

export const RULE = keyPaths('rule_id check_id rule.id');

export const SEVERITY = keyPaths(`
  severity severity_level issue_severity risk risk_level properties.security-severity properties.severity
  rule.properties.security-severity level extra.severity rule.level
`);

/** These keys may also hold prose, so they count only if the value is a single known word. */
export const RANK = keyPaths('priority impact');

/** A number under this key is a CVSS score, even if it is a whole number. */
export const SECURITY_SEVERITY = 'securityseverity';

export const SEVERITY_PARTS = keyPaths('level label value name score');

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

export const DESCRIPTION = keyPaths(`
  description details detail message issue_text explanation rationale overview body extra.message
  rule.full_description
`);

export const BLOCKS: readonly {
  readonly kind: BlockKind;
  readonly paths: readonly KeyPath[];
  readonly style?: TextStyle;
}[] = [
  // The first text is the description. A summary comes last, because it may be the title.
  { kind: 'details', paths: [...DESCRIPTION, ...keyPaths('summary')] },
  { kind: 'impact', paths: keyPaths('impact extra.metadata.impact') },
  { kind: 'exploitScenario', paths: keyPaths('exploit_scenario') },
  { kind: 'attackScenario', paths: keyPaths('attack_scenario') },
  { kind: 'evidence', paths: keyPaths('evidence') },
  { kind: 'reproductionSteps', paths: keyPaths('reproduction_steps'), style: 'numbers' },
  { kind: 'rootCause', paths: keyPaths('root_cause technical_analysis') },
  { kind: 'proofOfConcept', paths: keyPaths('poc poc_description proof_of_concept') },
  { kind: 'proofOfConcept', paths: keyPaths('poc_script_code'), style: 'code' },
  {
    kind: 'recommendation',
    paths: keyPaths(`
      recommendation recommendations remediation solution fix suggested_fix mitigation countermeasure
      countermeasures how_to_fix remediation_steps recommended_fix suggestion further_recommendations
      extra.fix rule.help
    `),
  },
  { kind: 'other', paths: keyPaths('other_fields') },
];

export interface LocationSource {
  readonly paths: readonly KeyPath[];
  readonly role?: LocationRole;
  readonly strings: PathBelief;
}

/**
 * Of the names in `FILE`, only `file` may have a list of files. An array under `path`, for example,
 * may list the keys of a JSON path.
 */
export const FILE_LIST: LocationSource = { strings: 'files', paths: keyPaths('file') };

export const MAIN_LOCATIONS: readonly LocationSource[] = [
  {
    strings: 'locations',
    paths: keyPaths('locations location affected_locations code_locations occurrences code_snippets'),
  },
  { strings: 'files', paths: keyPaths('affected_files files') },
];

export const OTHER_LOCATIONS: readonly LocationSource[] = [
  { strings: 'flow', role: 'evidence', paths: keyPaths('evidence code_evidence') },
  { strings: 'flow', role: 'source', paths: keyPaths('source') },
  { strings: 'flow', role: 'sink', paths: keyPaths('sink') },
  { strings: 'flow', role: 'step', paths: keyPaths('nodes trace code_flows') },
  { strings: 'flow', role: 'related', paths: keyPaths('related_locations') },
];

export const LOCATION_CONTAINERS = keyPaths(
  'physical_location location locations thread_flows steps nodes occurrences',
);

export const FILE = keyPaths(`
  file file_path path filename relative_path uri source_file ref artifact_location.uri
`);

export const START_LINE = keyPaths(`
  start_line line_start line line_number lineno begin_line from region.start_line line.start
  line.begin lines.start lines.begin line_range.start
`);

export const END_LINE = keyPaths('end_line line_end to region.end_line line.end lines.end line_range.end');

/** One value has both lines: `[a, b]` or `"12-20"`. */
export const LINE_RANGE = keyPaths('lines line_range file_line_range line');

/** An object with `character` counts lines and columns from 0. */
export const START_POSITION = keyPaths('start begin region.start range.start');
export const END_POSITION = keyPaths('end region.end range.end');
export const POSITION_LINE = keyPaths('line');
export const POSITION_COLUMN = keyPaths('column col');
export const POSITION_CHARACTER = keyPaths('character');
export const START_COLUMN = keyPaths('column col start_column region.start_column');
export const END_COLUMN = keyPaths('end_column region.end_column');

/** `lines` may have line numbers instead of code. `toSnippet` ignores these. */
export const SNIPPET = keyPaths('snippet code code_snippet region.snippet extra.lines lines');
export const LOCATION_LABEL = keyPaths('label message description rationale explanation note reason');
export const LOCATION_ROLE = keyPaths('role');

export const TARGET_INDEX = keyPaths('target_index archive_index target');

export const CWE = keyPaths(`
  cwe cwe_id cwe_ids cwes issue_cwe taxonomy.cwe properties.cwe extra.metadata.cwe rule.properties.cwe
`);

/** These lists have other entries, too, so a bare number needs a `CWE_KIND` of `cwe`. */
export const CWE_AMONG = keyPaths(
  'identifiers tags taxa properties.tags rule.properties.tags rule.relationships',
);

export const CWE_PARTS = keyPaths('id cwe_id value number name title');

export const CWE_KIND = keyPaths('type tool_component.name');
export const CVSS_SCORE = keyPaths('cvss cvss_score cvss.score cvss.base_score');
export const SCORE = keyPaths('score severity.score');
export const CVSS_VECTOR = keyPaths('cvss.vector cvss.vector_string vector_string cvss_vector cvss');
export const FEATURE = keyPaths('feature_name feature.name feature');
export const PERSPECTIVE = keyPaths('perspective');
export const METHOD = keyPaths('method http_method request.method web_request.method');
export const URL_TEXT = keyPaths('url request.url web_request.target');

export const CONFIDENCE = keyPaths(`
  confidence confidence_level confidence_score issue_confidence probability extra.metadata.confidence
`);
