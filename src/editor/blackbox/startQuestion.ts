import * as vscode from 'vscode';
import { originOf } from '../../core/api/address.ts';
import { clip, visibleLine, visibleName } from '../../core/visibleText.ts';
import { isFinal, type Run } from '../../core/run/state/run.ts';
import type { ApplicationInput } from '../../core/workflows/application.ts';
import { changesBetween, sentPartsOf } from '../../core/workflows/requestChanges.ts';
import { firstLines, formatNumber, formatTime } from '../formats.ts';
import { kindLabel, limitsLabel, nameOf, stateLabel } from '../labels.ts';
import { askInDialog } from '../showMessage.ts';
import type { BlackboxPlan } from './exactRequest.ts';
import { describeChanges } from './whatChanged.ts';

/** So much of the login instructions stands in the question. */
const maxInstructions = 500;

/** Shows what a run would do, where and for how many credits, the most important first; `runs` are all, the newest first. */
export async function askToStart(
  plan: BlackboxPlan,
  runs: readonly Run[],
  remarks: readonly string[],
): Promise<'start' | 'show' | undefined> {
  const t = vscode.l10n.t;
  const isCrawl = plan.workflow === 'blackbox-crawl';
  const hosts = visibleName(plan.targets.map(({ name }) => name).join(', '));
  const start = isCrawl ? t('Start Crawl') : t('Start Assessment');
  const show = t('Show Exact Request');
  const { origins, areNew } = originLines(plan.input, runs);
  const ownership = t(
    'The service refuses applications whose ownership isn’t verified for your organization. Only its response shows whether this one is verified.',
  );
  const detail = [
    [
      origins,
      countsLine(plan.input),
      t('Destination: {0}, organization {1}', originOf(plan.baseUrl), plan.organizationId),
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
    // Who has started a run of the application before has read how the service treats it.
    areNew ? [...preferenceLines(plan.input), ownership] : [],
  ];
  const paragraphs = detail.filter(({ length }) => length > 0).map((lines) => lines.join('\n'));
  const question = isCrawl ? t('Crawl {0}?', hosts) : t('Assess {0}?', hosts);
  const choice = await askInDialog({ question, detail: paragraphs.join('\n\n') }, start, show);
  if (choice === start) return 'start';
  return choice === show ? 'show' : undefined;
}

/** The origins of the targets; `areNew` where some were in no run of this machine. */
function originLines(
  { target_urls }: ApplicationInput,
  runs: readonly Run[],
): { readonly origins: string; readonly areNew: boolean } {
  const t = vscode.l10n.t;
  const own = runs.filter(({ state }) => state !== 'imported');
  const known = new Set(own.flatMap(({ input }) => (input?.target_urls ?? []).map(originOf)));
  const origins = [...new Set(target_urls.map(originOf))];
  // New ones first: of very many, the list shows the start.
  const fresh = origins.filter((origin) => !known.has(origin));
  const lines = [
    ...fresh.map((origin) => t('{0} (first time from this machine)', origin)),
    ...origins.filter((origin) => known.has(origin)),
  ];
  return { origins: firstLines(lines), areNew: fresh.length > 0 };
}

/** Whose passwords are sent, and the login instructions that go with them. */
function loginLines({ authentication }: ApplicationInput, show: string): string[] {
  const t = vscode.l10n.t;
  const logins = authentication?.credentials?.length ?? 0;
  const instructions = visibleLine(authentication?.additional_instructions ?? '');
  const shown = clip(instructions, maxInstructions);
  const more = instructions.length - shown.length;
  return [
    ...(logins === 0
      ? []
      : [
          t(
            'The passwords of {0} are sent, and the service logs in with them where it is told to. Use test accounts.',
            logins === 1 ? t('1 login') : t('{0} logins', formatNumber(logins)),
          ),
        ]),
    ...(instructions === '' ? [] : [t('Login instructions: {0}', `${shown}${more > 0 ? '…' : ''}`)]),
    ...(instructions === '' && logins > 0 ? [t('There are no login instructions.')] : []),
    ...(more > 0 ? [t('Characters not shown: {0}. See “{1}”.', formatNumber(more), show)] : []),
  ];
}

function preferenceLines({ preference }: ApplicationInput): string[] {
  return preference?.preferences === undefined
    ? []
    : [
        vscode.l10n.t(
          'DO and DONT entries are preferences that the service doesn’t have to follow. The only exclusion that it offers is out-of-scope URLs.',
        ),
      ];
}

function countsLine({ target_urls, oos_urls, authentication, preference, pairs }: ApplicationInput): string {
  const t = vscode.l10n.t;
  const wishes = preference?.preferences ?? [];
  const roles = new Set(authentication?.credentials?.map(({ role }) => role));
  const counts = [
    [t('target URLs'), target_urls.length],
    [t('out-of-scope URLs'), oos_urls?.length ?? 0],
    [t('roles'), roles.size],
    ['DO', wishes.filter(({ kind }) => kind === 'DO').length],
    ['DONT', wishes.filter(({ kind }) => kind === 'DONT').length],
    ...(pairs === undefined ? [] : [[t('pairs'), pairs.length] as const]),
  ] as const;
  return counts.map(([what, count]) => `${what}: ${formatNumber(count)}`).join(' · ');
}

/** What is different from the last start from the same file; a run that goes on from another is not started from the file. */
function changesSinceLast(plan: BlackboxPlan, runs: readonly Run[]): string[] {
  const { targetFile, workflow, input } = plan;
  const before = runs.flatMap((run) =>
    run.targetFile === targetFile && run.input !== undefined && run.input.resume === undefined
      ? [{ ...run, input: run.input }]
      : [],
  );
  const last = before.find((run) => run.workflow === workflow) ?? before[0];
  if (targetFile === undefined || input.resume !== undefined || last === undefined) return [];
  const changes = changesBetween(sentPartsOf(last), sentPartsOf(plan), workflow === 'blackbox-crawl');
  const [limits, now] = [limitsLabel(workflow, last.input), limitsLabel(workflow, input)];
  const lines = [
    ...(changes.length > 0 ? [describeChanges(changes).text] : []),
    ...(last.workflow === workflow && limits !== now ? [`  + ${now}`, `  − ${limits}`] : []),
  ];
  if (lines.length === 0) return [];
  const since = vscode.l10n.t(
    'Added (+) and removed (−) since the last start from this file on {0}:',
    formatTime(last.createdAt),
  );
  return [since, ...lines];
}

/** Runs under way on one of the same origins: each spends credits, and they disturb each other. */
function liveRuns({ target_urls }: ApplicationInput, runs: readonly Run[]): string[] {
  const origins = new Set(target_urls.map(originOf));
  const live = runs.filter(
    (run) => !isFinal(run) && run.input?.target_urls.some((url) => origins.has(originOf(url))) === true,
  );
  if (live.length === 0) return [];
  const lines = live.map(
    (run) => `${kindLabel(run)}, ${visibleLine(nameOf(run))}: ${visibleLine(stateLabel(run))}`,
  );
  return [vscode.l10n.t('Runs in progress on the same targets:'), firstLines(lines)];
}
