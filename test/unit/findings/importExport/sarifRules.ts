import type { Location, Log, PhysicalLocation, ReportingDescriptor, Result, Run } from 'sarif';

/**
 * The rules of a log are in their authority's words, with what violates them. The published schema
 * is checked apart.
 */
type SarifRules = Readonly<Record<string, (parts: Parts) => readonly unknown[]>>;

interface Parts {
  readonly log: Log;
  readonly run: Run;
  readonly results: readonly Result[];
  readonly rules: readonly ReportingDescriptor[];
  readonly locations: readonly PhysicalLocation[];
}

export function brokenRules(log: Log, rules: SarifRules): readonly string[] {
  const run = log.runs[0]!;
  const { results = [], tool } = run;
  const locations = results.flatMap(locationsOf).flatMap(({ physicalLocation }) => physicalLocation ?? []);
  const parts = { log, run, results, rules: tool.driver.rules ?? [], locations };
  return Object.entries(rules).flatMap(([says, broken]) =>
    broken(parts).map((each) => `${says}: ${JSON.stringify(each)}`),
  );
}

function locationsOf({ locations = [], relatedLocations = [], codeFlows = [] }: Result): readonly Location[] {
  const steps = codeFlows.flatMap(({ threadFlows }) => threadFlows.flatMap((flow) => flow.locations));
  return [...locations, ...relatedLocations, ...steps.flatMap(({ location }) => location ?? [])];
}

const textOf = ({ message: { text = '' } }: Result): string => text;
const isOnSome = (results: readonly Result[], member: keyof Result): boolean =>
  new Set(results.map((each) => each[member] !== undefined)).size > 1;
const repeated = <T>(values: readonly T[]): readonly T[] =>
  values.filter((each, at) => values.indexOf(each) !== at);

/** The schema of SARIF 2.1.0 lacks these rules of its text. */
export const sarifProse: SarifRules = {
  '3.4.3, 3.4.4: an artifact is named by a valid URI reference, relative to a known base and below it': ({
    run,
    locations,
  }) =>
    [...locations.map((each) => each.artifactLocation), ...(run.artifacts ?? []).map((each) => each.location)]
      .filter((location) => location !== undefined)
      .filter(({ uri = '', uriBaseId = '%SRCROOT%' }) => {
        const isRelative = !URL.canParse(uri) && !uri.startsWith('/');
        const isBelow = !uri.split('/').some((part) => part === '..' || part === '.' || part === '');
        const isEncoded = /^(?:[\w.~!$&'()*+,;=:@/-]|%[\dA-F]{2})+$/i.test(uri);
        return !(isRelative && isBelow && isEncoded && uriBaseId in (run.originalUriBaseIds ?? {}));
      }),
  '3.11.5: braces in a message are doubled where they are no placeholders': ({ results }) =>
    results.map(textOf).filter((text) => /[{}]/.test(text.replace(/\{\{|\}\}/g, ''))),
  '3.11.6: no text of a message becomes an embedded link': ({ results }) =>
    results.map(textOf).filter((text) => /(?<!\\)\]\(/.test(text)),
  '3.19.23, 3.27.5, 3.27.6: each rule is there once, and the ID and the index of a rule mean the same one': ({
    rules,
    results,
  }) => [
    ...repeated(rules.map(({ id }) => id)),
    ...results.filter(({ ruleId = '', ruleIndex = -1 }) => rules[ruleIndex]?.id !== ruleId),
  ],
  '3.27.10: a result that is no failure has the level none, and no other has': ({ results }) =>
    results.filter(({ kind = 'fail', level }) => (kind === 'fail') === (level === 'none')),
  '3.27.23, 3.27.24: all results have suppressions, or none has; the same of a baseline state': ({
    results,
  }) => (['suppressions', 'baselineState'] as const).filter((each) => isOnSome(results, each)),
  '3.28.2: the IDs of the locations of a result differ': ({ results }) =>
    results.flatMap((result) => repeated(locationsOf(result).flatMap(({ id }) => id ?? []))),
  '3.30.2: a region does not end before it begins': ({ locations }) =>
    locations.filter(({ region: { startLine = 1, endLine, startColumn = 1, endColumn } = {} }) => {
      const last = endLine ?? startLine;
      const isBackward = last === startLine && (endColumn ?? Infinity) < startColumn;
      return startLine < 1 || last < startLine || isBackward;
    }),
};

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/**
 * GitHub's documentation "SARIF support for code scanning" has these limits, required members, and
 * their meaning.
 */
export const codeScanningRules: SarifRules = {
  'the schema is required; a tool has a name, and a version in the form of Semantic Versioning': ({
    log: { $schema },
    run: { tool },
  }) => {
    const { name, semanticVersion = '' } = tool.driver;
    return isText($schema) && isText(name) && /^\d+\.\d+\.\d+/.test(semanticVersion) ? [] : [tool];
  },
  'a rule has an ID, and texts that are required and no longer than 1,024 characters; its name has at most 255':
    ({ rules }) =>
      rules.filter(
        ({ id, name = '', shortDescription, fullDescription, help }) =>
          ![id, shortDescription?.text, fullDescription?.text, help?.text].every(isText) ||
          name.length > 255 ||
          [shortDescription, fullDescription].some((each) => (each?.text.length ?? 0) > 1_024),
      ),
  'a rule has at most 20 tags': ({ rules }) =>
    rules.filter(({ properties }) => ((properties?.['tags'] ?? []) as readonly unknown[]).length > 20),
  'a security severity is a text, greater than 0.0 and up to 10.0': ({ rules, results }) =>
    [...rules, ...results]
      .map(({ properties }): unknown => properties?.['security-severity'])
      .filter((score) => score !== undefined)
      .filter((score) => typeof score !== 'string' || !(Number(score) > 0 && Number(score) <= 10)),
  'a level is note, warning or error': ({ rules, results }) =>
    [...results, ...rules.map(({ defaultConfiguration }) => defaultConfiguration ?? {})].filter(
      ({ level = 'none' }) => level === 'none',
    ),
  'a result has a message, whose first sentence is shown where there is little space': ({ results }) =>
    results.map(textOf).filter((text) => !/^[^\n]*[.!?。！？]/.test(text.trimStart())),
  'a result has a location, and one is enough: only the first is used': ({ results }) =>
    results.filter(({ locations = [] }) => locations.length !== 1),
  'a location has a file, by its path from the root of the repository, and a region with all four members': ({
    locations,
  }) =>
    locations.filter(({ artifactLocation, region: { startLine, startColumn, endLine, endColumn } = {} }) => {
      const members = [startLine, startColumn, endLine, endColumn];
      return !isText(artifactLocation?.uri) || !members.every((each) => each !== undefined && each >= 1);
    }),
  'a result has the fingerprint that alerts are matched by, in the form of codeql-action, and no other result of its rule has it':
    ({ results }) => {
      const keys = results.map(({ ruleId = '', partialFingerprints }) => [
        partialFingerprints?.['primaryLocationLineHash'] ?? '',
        ruleId,
      ]);
      const odd = keys.filter(([hash = '']) => !/^[\da-f]{1,16}:\d+$/.test(hash));
      return [...repeated(keys.map(String)), ...odd];
    },
  'the category is everything up to the last slash of the ID, and the ID of the run comes after it': ({
    run: { automationDetails },
  }) => [automationDetails?.id ?? ''].filter((id) => !/^whitebox\/[a-z-]+\/[^/]+\/[^/]+$/.test(id)),
};

export const ourRules: SarifRules = {
  'no result is suppressed, absent, or has what only we read': ({ results }) =>
    results.filter(
      ({ suppressions, baselineState, properties }) => suppressions ?? baselineState ?? properties,
    ),
  'files have a SHA-256, and are there once and only where a result names them': ({
    run: { artifacts = [] },
    locations,
  }) => {
    const named = new Set(locations.map(({ artifactLocation }) => artifactLocation?.uri));
    const uris = artifacts.map(({ location }) => location?.uri);
    const isHash = (text = '') => /^[\da-f]{64}$/.test(text);
    return [
      ...repeated(uris),
      ...uris.filter((uri) => !named.has(uri)),
      ...artifacts.filter(({ hashes }) => !isHash(hashes?.['sha-256'])),
    ];
  },
  'the address of a repository has no user information and no query': ({
    run: { versionControlProvenance = [] },
  }) => versionControlProvenance.filter(({ repositoryUri }) => /[@?#]/.test(repositoryUri)),
};
