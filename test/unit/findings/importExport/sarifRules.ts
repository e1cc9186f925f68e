import type { Location, Log, PhysicalLocation, Result, Run } from 'sarif';

/** A rule for a log in its authority's words, and its violations in a log. */
export interface SarifRule {
  readonly says: string;
  readonly broken: (log: Log) => readonly unknown[];
}

const rule = (says: string, broken: SarifRule['broken']): SarifRule => ({ says, broken });

/** The violated rules of a log with their violations. */
export function brokenRules(log: Log, rules: readonly SarifRule[]): readonly string[] {
  return rules.flatMap(({ says, broken }) => broken(log).map((each) => `${says}: ${JSON.stringify(each)}`));
}

const runsOf = ({ runs }: Log): readonly Run[] => runs;
const resultsOf = (log: Log): readonly Result[] => log.runs.flatMap(({ results = [] }) => results);
const rulesOf = (log: Log) => log.runs.flatMap(({ tool }) => tool.driver.rules ?? []);

/** All locations of a result, of any kind. */
function locationsOf({ locations = [], relatedLocations = [], codeFlows = [] }: Result): readonly Location[] {
  const steps = codeFlows.flatMap(({ threadFlows }) => threadFlows.flatMap((flow) => flow.locations));
  return [...locations, ...relatedLocations, ...steps.flatMap(({ location }) => location ?? [])];
}

const placesOf = (log: Log): readonly PhysicalLocation[] =>
  resultsOf(log)
    .flatMap(locationsOf)
    .flatMap(({ physicalLocation }) => physicalLocation ?? []);

/** All objects in a log with their property names. */
function* objectsIn(value: unknown, name = ''): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [name, value as Record<string, unknown>];
  for (const [key, each] of Object.entries(value)) yield* objectsIn(each, Array.isArray(value) ? name : key);
}

const onAllOrNone = (log: Log, member: 'suppressions' | 'baselineState'): readonly unknown[] => {
  const has = new Set(resultsOf(log).map((result) => result[member] !== undefined));
  return has.size > 1 ? [member] : [];
};

/** Rules of the SARIF 2.1.0 text that its schema lacks. */
export const sarifProse: readonly SarifRule[] = [
  rule(
    '3.4.3, 3.4.4: an artifact is named by a valid URI reference, relative to a known base and below it',
    (log) =>
      [...objectsIn(log)]
        .filter(([name]) => name === 'artifactLocation' || name === 'location')
        .map(([, location]) => location)
        .filter(({ uri }) => typeof uri === 'string')
        .filter(({ uri, uriBaseId }) => {
          const text = uri as string;
          const isRelative = !URL.canParse(text) && !text.startsWith('/');
          const isBelow = !text.split('/').some((part) => part === '..' || part === '.' || part === '');
          const isEncoded = /^(?:[\w.~!$&'()*+,;=:@/-]|%[\dA-F]{2})+$/i.test(text);
          const isBased =
            uriBaseId === undefined ||
            runsOf(log).every(({ originalUriBaseIds = {} }) => (uriBaseId as string) in originalUriBaseIds);
          return !(isRelative && isBelow && isEncoded && isBased);
        }),
  ),
  rule('3.11.5: braces in a message are doubled where they are no placeholders', (log) =>
    resultsOf(log)
      .map(({ message: { text = '' } }) => text)
      .filter((text) => /[{}]/.test(text.replace(/\{\{|\}\}/g, ''))),
  ),
  rule('3.11.6: no text of a message becomes an embedded link', (log) =>
    resultsOf(log)
      .map(({ message: { text = '' } }) => text)
      .filter((text) => /(?<!\\)\]\(/.test(text)),
  ),
  rule('3.19.23, 3.27.5, 3.27.6: the ID and the index of a rule mean the same one', (log) =>
    runsOf(log).flatMap(({ tool, results = [] }) =>
      results.filter(
        ({ ruleId, ruleIndex = -1 }) => ruleId === undefined || tool.driver.rules?.[ruleIndex]?.id !== ruleId,
      ),
    ),
  ),
  rule('3.19.23: each rule is there once', (log) => {
    const ids = rulesOf(log).map(({ id }) => id);
    return ids.filter((id, at) => ids.indexOf(id) !== at);
  }),
  rule('3.20.14: an invocation says whether it was successful', (log) =>
    runsOf(log)
      .flatMap(({ invocations = [] }) => invocations)
      .filter(({ executionSuccessful }) => typeof executionSuccessful !== 'boolean'),
  ),
  rule('3.23.3: a repository is named by an absolute URI', (log) =>
    runsOf(log)
      .flatMap(({ versionControlProvenance = [] }) => versionControlProvenance)
      .filter(({ repositoryUri }) => !URL.canParse(repositoryUri)),
  ),
  rule('3.27.10: a result that is no failure has the level none, and no other has', (log) =>
    resultsOf(log).filter(({ kind = 'fail', level }) => (kind === 'fail') === (level === 'none')),
  ),
  rule('3.27.23: all results have suppressions, or none has', (log) => onAllOrNone(log, 'suppressions')),
  rule('3.27.24: all results have a baseline state, or none has', (log) => onAllOrNone(log, 'baselineState')),
  rule('3.28.2: the IDs of the locations of a result differ', (log) =>
    resultsOf(log).filter((result) => {
      const ids = locationsOf(result).flatMap(({ id }) => id ?? []);
      return new Set(ids).size < ids.length;
    }),
  ),
  rule('3.30.2: a region does not end before it begins', (log) =>
    placesOf(log).filter(({ region: { startLine = 1, endLine, startColumn = 1, endColumn } = {} }) => {
      const last = endLine ?? startLine;
      return (
        startLine < 1 || last < startLine || (last === startLine && (endColumn ?? Infinity) < startColumn)
      );
    }),
  ),
  rule('3.14.17: a log with regions says what its columns count', (log) =>
    runsOf(log).filter(({ columnKind }) => columnKind === undefined),
  ),
];

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const scoreOf = (properties: Record<string, unknown> | undefined): unknown =>
  properties?.['security-severity'];

/** GitHub's documentation "SARIF support for code scanning": limits, required members and their meaning. */
export const codeScanningRules: readonly SarifRule[] = [
  rule('the schema and the version are required', ({ $schema, version }) =>
    isText($schema) && (version as string) === '2.1.0' ? [] : [version],
  ),
  rule('a tool has a name, and a version in the form of Semantic Versioning', (log) =>
    runsOf(log)
      .map(({ tool }) => tool.driver)
      .filter(({ name, semanticVersion = '' }) => !isText(name) || !/^\d+\.\d+\.\d+/.test(semanticVersion)),
  ),
  rule('at most 20 runs, 25,000 results and 25,000 rules', (log) =>
    [log.runs.length > 20, resultsOf(log).length > 25_000, rulesOf(log).length > 25_000].filter(Boolean),
  ),
  rule(
    'a rule has an ID, and texts that are required and no longer than 1,024 characters; its name has at most 255',
    (log) =>
      rulesOf(log).filter(
        ({ id, name = '', shortDescription, fullDescription, help }) =>
          ![id, shortDescription?.text, fullDescription?.text, help?.text].every(isText) ||
          name.length > 255 ||
          [shortDescription, fullDescription].some((each) => (each?.text.length ?? 0) > 1_024),
      ),
  ),
  rule('a rule has at most 20 tags', (log) =>
    rulesOf(log).filter(
      ({ properties }) => ((properties?.['tags'] as unknown[] | undefined) ?? []).length > 20,
    ),
  ),
  rule('a security severity is a text, greater than 0.0 and up to 10.0', (log) =>
    [...rulesOf(log), ...resultsOf(log)]
      .map(({ properties }) => scoreOf(properties))
      .filter((score) => score !== undefined)
      .filter((score) => typeof score !== 'string' || !(Number(score) > 0 && Number(score) <= 10)),
  ),
  rule('a level is note, warning or error', (log) =>
    [
      ...resultsOf(log).map(({ level }) => level),
      ...rulesOf(log).map(({ defaultConfiguration }) => defaultConfiguration?.level),
    ].filter((level) => level === undefined || level === 'none'),
  ),
  rule('a result has a message, whose first sentence is shown where there is little space', (log) =>
    resultsOf(log).filter(({ message: { text = '' } }) => !/^[^\n]*[.!?。！？]/.test(text.trimStart())),
  ),
  rule('a result has a location, and one is enough: only the first is used', (log) =>
    resultsOf(log).filter(({ locations = [] }) => locations.length !== 1),
  ),
  rule(
    'a location has a file, by its path from the root of the repository, and a region with all four members',
    (log) =>
      resultsOf(log)
        .flatMap(locationsOf)
        .filter(({ physicalLocation: { artifactLocation, region } = {} }) => {
          const members = [region?.startLine, region?.startColumn, region?.endLine, region?.endColumn];
          return !isText(artifactLocation?.uri) || !members.every((each) => each !== undefined && each >= 1);
        }),
  ),
  rule('a result has the fingerprint that alerts are matched by, in the form of codeql-action', (log) =>
    resultsOf(log).filter(
      ({ partialFingerprints = {} }) =>
        !/^[\da-f]{1,16}:\d+$/.test(partialFingerprints['primaryLocationLineHash'] ?? ''),
    ),
  ),
  rule('two results of a rule are told apart by their fingerprints', (log) => {
    const keys = resultsOf(log).map(({ ruleId, partialFingerprints }) =>
      JSON.stringify([ruleId, partialFingerprints?.['primaryLocationLineHash']]),
    );
    return keys.filter((key, at) => keys.indexOf(key) !== at);
  }),
  rule('at most 10,000 steps and 1,000 locations of a result, of which 1,000 and 100 are shown', (log) =>
    resultsOf(log).filter(
      ({ relatedLocations = [], codeFlows = [] }) =>
        relatedLocations.length > 100 ||
        codeFlows.flatMap(({ threadFlows }) => threadFlows.flatMap(({ locations }) => locations)).length >
          1_000,
    ),
  ),
  rule(
    'the category is everything up to the last slash of the ID, and the ID of the run comes after it',
    (log) =>
      runsOf(log)
        .map(({ automationDetails }) => automationDetails?.id ?? '')
        .filter((id) => !/^whitebox\/[a-z-]+\/[^/]+\/[^/]+$/.test(id)),
  ),
];

/** Our own rules for code scanning. */
export const ourRules: readonly SarifRule[] = [
  rule('no result is suppressed, absent, or has what only we read', (log) =>
    resultsOf(log).filter(
      ({ suppressions, baselineState, properties }) => suppressions ?? baselineState ?? properties,
    ),
  ),
  rule('files have a SHA-256, and are there once and only where a result names them', (log) => {
    const named = new Set(placesOf(log).map(({ artifactLocation }) => artifactLocation?.uri));
    return runsOf(log)
      .flatMap(({ artifacts = [] }) => artifacts)
      .filter(
        ({ location, hashes }, at, all) =>
          !named.has(location?.uri) ||
          !/^[\da-f]{64}$/.test(hashes?.['sha-256'] ?? '') ||
          all.findIndex((each) => each.location?.uri === location?.uri) !== at,
      );
  }),
  rule('the address of a repository has no user information and no query', (log) =>
    runsOf(log)
      .flatMap(({ versionControlProvenance = [] }) => versionControlProvenance)
      .filter(({ repositoryUri }) => {
        const { username, password, search, hash } = new URL(repositoryUri);
        return `${username}${password}${search}${hash}` !== '';
      }),
  ),
];
