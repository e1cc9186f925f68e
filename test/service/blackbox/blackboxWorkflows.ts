import { createHash } from 'node:crypto';
import { Refusal } from '../replies.ts';
import { reportText } from '../runs/reportText.ts';
import {
  RunAborted,
  type Contents,
  type DispatchContext,
  type EarlierRun,
  type Workflow,
} from '../runs/workflow.ts';
import {
  assessmentInput,
  crawlInput,
  featuresArtifact,
  liveFindingsArtifact,
  perspectives,
  scanProgressArtifact,
  type AssessmentInput,
  type CrawlInput,
  type Feature,
  type LiveFinding,
  type Pair,
  type ScanProgress,
} from './blackboxSchemas.ts';
import { crawl, probe } from './inventedShop.ts';

const JSON_TYPE = 'application/json';
const LIMIT_REACHED = 'credit_limit_reached';

export const blackboxCrawl: Workflow = {
  id: 'blackbox-crawl',
  inputSchema: crawlInput,
  artifacts: [{ name: 'features', required: true, mediaType: JSON_TYPE, schema: featuresArtifact }],
  admit(input: CrawlInput, { requireVerified, earlierRun }) {
    requireVerified(input.target_urls);
    const { resume, credit_limit: limit } = input;
    const earlier = resume && earlierRun(resume.workflow_id, resume.workflow_run_id);
    if (earlier) requireEligible(earlier, ['SUCCESS']);
    const known = earlier && read(earlier, 'features');
    return {
      archives: [],
      perform: () => Promise.resolve(contentsOf({ features: crawl(input, known ?? [], limit) })),
    };
  },
};

export const blackboxAssessment: Workflow = {
  id: 'blackbox-assessment',
  inputSchema: assessmentInput,
  artifacts: [
    { name: 'report', required: true, mediaType: 'text/markdown; charset=utf-8' },
    { name: 'findings', required: true, mediaType: JSON_TYPE, schema: liveFindingsArtifact },
    { name: 'features', required: false, mediaType: JSON_TYPE, schema: featuresArtifact },
    { name: 'scan_progress', required: false, mediaType: JSON_TYPE, schema: scanProgressArtifact },
  ],
  admit(input: AssessmentInput, { requireVerified, earlierRun }) {
    requireVerified(input.target_urls);
    const earlier = input.resume && resumed(input.resume, input.target_urls, earlierRun);
    const known = earlier && read(earlier, 'features');
    const names = new Set(known?.map(({ name }) => name));
    const unknown = input.pairs?.find(({ feature_name }) => !names.has(feature_name));
    if (unknown)
      throw new Refusal('unknown_feature', `The referenced run has no feature ${unknown.feature_name}.`);
    const isContinued = input.resume?.kind === 'continue_assessment';
    return {
      archives: [],
      async perform() {
        const features = known ?? crawl(input, [], input.crawl_credit_limit);
        return Promise.resolve(assess(input, features, isContinued ? earlier : undefined));
      },
    };
  },
};

/** Throws Refusal if rule 1 or 2 of section 2.7 forbids the `resume`. */
function resumed(
  resume: NonNullable<AssessmentInput['resume']>,
  targetUrls: readonly string[],
  earlierRun: DispatchContext['earlierRun'],
): EarlierRun {
  const isContinued = resume.kind === 'continue_assessment';
  const { workflow_id, workflow_run_id } = isContinued
    ? resume.continue_assessment
    : resume.assess_crawled_features;
  const allowed = isContinued ? ['blackbox-assessment'] : ['blackbox-assessment', 'blackbox-crawl'];
  if (!allowed.includes(workflow_id)) {
    throw new Refusal(
      'run_not_eligible',
      `The referenced run must be a ${allowed.join(' or ')} run, not ${workflow_id}.`,
    );
  }
  const earlier = earlierRun(workflow_id, workflow_run_id);
  requireEligible(earlier, ['SUCCESS', LIMIT_REACHED]);
  const [ours, theirs] = [targetUrls, (earlier.input as AssessmentInput).target_urls].map((urls) =>
    [...new Set(urls)].sort().join(' '),
  );
  if (ours !== theirs)
    throw new Refusal('other_target_urls', `The referenced run has other target URLs: ${theirs ?? ''}`);
  return earlier;
}

function requireEligible({ end, contents }: EarlierRun, ends: readonly string[]): void {
  if (end === undefined || !ends.includes(end)) {
    throw new Refusal(
      'run_not_eligible',
      `The referenced run must have ended with ${ends.join(' or ')}; it has not.`,
    );
  }
  if (!contents.has('features')) throw new Refusal('run_not_eligible', 'The referenced run has no features.');
}

/**
 * Tests one pair after the other, for one credit each, until the limit. What an earlier run has
 * tested is carried over (section 2.7, rule 4).
 */
function assess(input: AssessmentInput, features: readonly Feature[], earlier?: EarlierRun): Contents {
  const before: ScanProgress = (earlier && read(earlier, 'scan_progress')) ?? {
    completed: [],
    skipped: [],
  };
  const [completed, skipped] = [[...before.completed], [...before.skipped]];
  const findings = [...((earlier && read(earlier, 'findings')) ?? [])];
  const done = new Set([...completed, ...skipped].map(keyOf));
  let credits = 0;
  let isCut = false;
  for (const pair of pairsOf(input, features)) {
    if (done.has(keyOf(pair))) continue;
    done.add(keyOf(pair));
    const found = probe(input, pair.feature_name, pair.perspective);
    if (found === undefined) {
      skipped.push(pair);
      continue;
    }
    isCut = credits >= (input.scan_credit_limit ?? Infinity);
    if (isCut) break;
    credits++;
    completed.push(pair);
    const id = `BB-${createHash('sha256').update(keyOf(pair)).digest('hex').slice(0, 12)}`;
    if (found !== null) findings.push({ id, ...found, ...pair });
  }

  const progress: ScanProgress = { completed, skipped };
  const report = reportOf(findings, progress, input.language);
  const contents = contentsOf({ report, findings, features, scan_progress: progress });
  if (isCut)
    throw new RunAborted(LIMIT_REACHED, { scan_progress: { artifact_name: 'scan_progress' } }, contents);
  return contents;
}

/** Pairs of a higher priority come first (section 2.7, rule 3). */
function pairsOf({ pairs }: AssessmentInput, features: readonly Feature[]): Pair[] {
  if (!pairs) {
    return features.flatMap(({ name }) =>
      perspectives.map((perspective) => ({ feature_name: name, perspective })),
    );
  }
  const rank = { high: 0, medium: 1, low: 2 };
  return pairs
    .toSorted((one, other) => rank[one.priority ?? 'medium'] - rank[other.priority ?? 'medium'])
    .map(({ feature_name, perspective }) => ({ feature_name, perspective }));
}

function reportOf(
  findings: readonly LiveFinding[],
  { completed, skipped }: ScanProgress,
  language: AssessmentInput['language'],
): string {
  const heading = {
    english: {
      title: 'Blackbox Assessment Report',
      scope: `The assessment tested ${completed.length} pairs of feature and perspective; ${skipped.length} were not applicable.`,
    },
    japanese: {
      title: 'ブラックボックス診断レポート',
      scope: `機能と観点の組み合わせ ${completed.length} 件を診断しました。${skipped.length} 件は対象外です。`,
    },
  }[language];
  const reported = findings.map(({ method, url, evidence, ...finding }) => ({
    ...finding,
    locations: [{ name: `${method} ${url}`, code: evidence }],
  }));
  return reportText(reported, { language, ...heading });
}

function keyOf({ feature_name, perspective }: Pair): string {
  return `${perspective} ${feature_name}`;
}

function contentsOf(artifacts: Readonly<Record<string, unknown>>): Contents {
  const written = (value: unknown) =>
    typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`;
  return new Map(Object.entries(artifacts).map(([name, value]) => [name, written(value)]));
}

interface Artifacts {
  features: Feature[];
  findings: LiveFinding[];
  scan_progress: ScanProgress;
}

function read<Name extends keyof Artifacts>(
  { contents }: EarlierRun,
  name: Name,
): Artifacts[Name] | undefined {
  const text = contents.get(name);
  return text === undefined ? undefined : (JSON.parse(text) as Artifacts[Name]);
}
