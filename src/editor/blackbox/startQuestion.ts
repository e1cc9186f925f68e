import * as vscode from 'vscode';
import { originOf } from '../../core/api/address.ts';
import { isSamePath } from '../../core/paths.ts';
import { clip, visibleLine, visibleName } from '../../core/visibleText.ts';
import { isFinal, type Run } from '../../core/run/state/run.ts';
import type { ApplicationInput } from '../../core/workflows/blackboxInput.ts';
import { changesBetween, sentPartsOf } from '../../core/workflows/requestChanges.ts';
import { compact, firstLines, formatAccount, formatNumber, formatTime } from '../formats.ts';
import { kindLabel, limitsLabel, nameOf, runStateLabel, titleOf } from '../runs/runLabels.ts';
import { askInDialog } from '../showMessage.ts';
import type { BlackboxPlan } from './exactRequest.ts';
import { describeChanges } from './whatChanged.ts';

const t = vscode.l10n.t;

/** `runs` has all runs, the newest first. */
export async function askToStart(
  plan: BlackboxPlan,
  runs: readonly Run[],
  remarks: readonly string[],
): Promise<'start' | 'readingRequest' | 'cancelled'> {
  const isCrawl = plan.workflow === 'blackbox-crawl';
  const hosts = visibleName(titleOf(plan));
  const start = isCrawl ? t('Start Crawl') : t('Start Assessment');
  const show = t('Show Exact Request');
  const { origins, areNew } = originLines(plan, runs);
  const detail = [
    [
      origins,
      countsLine(plan.input),
      t('Destination: {0}', formatAccount(plan)),
      ...webhookLines(plan),
      limitsLabel(plan.workflow, plan.input),
      t('The run spends your organization’s credits and continues while VS Code is closed.'),
    ],
    [
      isCrawl
        ? t(
            'A crawl doesn’t test security, but it uses the application. It may log in, follow links, and submit forms.',
          )
        : t(
            'An assessment attacks the application. It may change and delete the application’s data and slow it down.',
          ),
      ...remarks,
    ],
    loginLines(plan.input, show),
    changesSinceLast(plan, runs),
    liveRuns(plan.input, runs),
    areNew ? firstTimeLines(plan.input) : [],
  ].map((lines) => lines.join('\n'));
  const question = isCrawl ? t('Crawl {0}?', hosts) : t('Assess {0}?', hosts);
  const choice = await askInDialog({ question, detail }, start, show);
  if (choice === start) return 'start';
  return choice === show ? 'readingRequest' : 'cancelled';
}

/** An Internet host name has at most 253 characters, so its origin is shown whole. */
const maxOriginLength = 300;

/**
 * Names every new origin, but at most 10 of the others. `areNew` is true if at least one origin is
 * in no run that was started on this machine.
 */
function originLines(
  plan: BlackboxPlan,
  runs: readonly Run[],
): { readonly origins: string; readonly areNew: boolean } {
  const startedHere = runs.filter(({ state }) => state !== 'imported');
  const known = new Set(startedHere.flatMap(({ input }) => originsOf(input)));
  const last = lastStart(plan, runs);
  const before = last && new Set(originsOf(last.input));
  const origins = originsOf(plan.input);
  const first = origins.filter((origin) => !known.has(origin));
  const added = origins.filter((origin) => known.has(origin) && before?.has(origin) === false);
  const others = origins.filter((origin) => known.has(origin) && before?.has(origin) !== false);
  const listed = (some: readonly string[]): string =>
    some.map((origin) => clip(origin, maxOriginLength)).join(', ');
  const lines = compact(
    first.length > 0 && t('{0} (first time from this machine)', listed(first)),
    added.length > 0 && t('{0} (new since the last start from this file)', listed(added)),
    firstLines(others.map((origin) => clip(origin, maxOriginLength))),
  );
  return { origins: lines.join('\n'), areNew: first.length > 0 };
}

function originsOf(input: ApplicationInput | undefined): string[] {
  return [...new Set(input?.target_urls.map(originOf))];
}

function webhookLines({ webhookEndpointIds }: BlackboxPlan): string[] {
  if (webhookEndpointIds.length === 0) return [];
  return [
    t('The service notifies these webhook endpoints: {0}', webhookEndpointIds.map(visibleLine).join(', ')),
  ];
}

function countsLine({ target_urls, oos_urls, authentication, preference, pairs }: ApplicationInput): string {
  const preferences = preference?.preferences ?? [];
  const roles = new Set(authentication?.credentials?.map(({ role }) => role));
  const counts: [string, number][] = [
    [t('target URLs'), target_urls.length],
    [t('out-of-scope URLs'), oos_urls?.length ?? 0],
    [t('roles'), roles.size],
    ['DO', preferences.filter(({ kind }) => kind === 'DO').length],
    ['DONT', preferences.filter(({ kind }) => kind === 'DONT').length],
  ];
  if (pairs !== undefined) counts.push([t('pairs'), pairs.length]);
  return counts.map(([what, count]) => `${what}: ${formatNumber(count)}`).join(' · ');
}

const maxInstructions = 500;

function loginLines({ authentication }: ApplicationInput, show: string): string[] {
  const logins = authentication?.credentials?.length ?? 0;
  const instructions = visibleLine(authentication?.additional_instructions ?? '');
  const shown = clip(instructions, maxInstructions);
  const hiddenLength = instructions.length - shown.length;
  return compact(
    logins === 1 && t('VS Code sends the password for 1 login to the service. Use a test account.'),
    logins > 1 &&
      t(
        'VS Code sends the passwords for {0} logins to the service. Use test accounts.',
        formatNumber(logins),
      ),
    instructions === ''
      ? logins > 0 && t('There are no login instructions.')
      : t('The service logs in as these instructions say: {0}', hiddenLength > 0 ? `${shown}…` : shown),
    hiddenLength > 0 &&
      t('Characters not shown: {0}. To see all of them, choose “{1}”.', formatNumber(hiddenLength), show),
  );
}

/** Continuations don't count, because they aren't started from the target file. */
function lastStart(
  { targetFile, workflow, input }: BlackboxPlan,
  runs: readonly Run[],
): (Run & { readonly input: ApplicationInput }) | undefined {
  if (targetFile === undefined || input.resume !== undefined) return undefined;
  const earlier = runs.flatMap((run) =>
    isSamePath(run.targetFile, targetFile) && run.input !== undefined && run.input.resume === undefined
      ? [{ ...run, input: run.input }]
      : [],
  );
  return earlier.find((run) => run.workflow === workflow) ?? earlier[0];
}

function changesSinceLast(plan: BlackboxPlan, runs: readonly Run[]): string[] {
  const { workflow, input } = plan;
  const last = lastStart(plan, runs);
  if (last === undefined) return [];
  const changes = changesBetween(sentPartsOf(last), sentPartsOf(plan), workflow === 'blackbox-crawl');
  const [limitsBefore, limits] = [limitsLabel(workflow, last.input), limitsLabel(workflow, input)];
  const lines: string[] = [];
  if (changes.length > 0) lines.push(describeChanges(changes).text);
  if (last.workflow === workflow && limitsBefore !== limits)
    lines.push(`  + ${limits}`, `  − ${limitsBefore}`);
  if (lines.length === 0) return [];
  const changesLine = t(
    'Added (+) and removed (−) since the last start from this file on {0}:',
    formatTime(last.createdAt),
  );
  return [changesLine, ...lines];
}

/** Unfinished runs may spend credits, and runs on the same origin disturb each other. */
function liveRuns({ target_urls }: ApplicationInput, runs: readonly Run[]): string[] {
  const origins = new Set(target_urls.map(originOf));
  const live = runs.filter(
    (run) => !isFinal(run) && run.input?.target_urls.some((url) => origins.has(originOf(url))) === true,
  );
  if (live.length === 0) return [];
  const lines = live.map(
    (run) => `${kindLabel(run)}, ${visibleLine(nameOf(run))}: ${visibleLine(runStateLabel(run))}`,
  );
  return [t('Runs in progress on the same targets:'), firstLines(lines)];
}

function firstTimeLines({ preference }: ApplicationInput): string[] {
  return compact(
    preference?.preferences &&
      t(
        'DO and DONT entries are preferences that the service doesn’t have to follow. To exclude something, list it as an out-of-scope URL.',
      ),
    t(
      'The service rejects applications whose ownership isn’t verified for your organization. VS Code can’t check this before the start.',
    ),
  );
}
