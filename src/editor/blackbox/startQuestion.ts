import * as vscode from 'vscode';
import { originOf } from '../../core/api/address.ts';
import { toVisibleJson, visibleLine, visibleName } from '../../core/visibleText.ts';
import type { Disposable } from '../../core/ports.ts';
import type { Assessment } from '../../core/run/state/newRun.ts';
import { isFinal, type Run } from '../../core/run/state/run.ts';
import { type ApplicationInput, changesBetween, sentPartsOf } from '../../core/workflows/application.ts';
import { workflows } from '../../core/workflows/workflows.ts';
import { firstLines, formatNumber, formatTime } from '../formats.ts';
import { limitsLabel, runLabel, stateLabel } from '../labels.ts';
import { askInDialog } from '../showMessage.ts';
import { describeChanges } from './passwordQuestions.ts';

/** A blackbox run that a person is asked about: exactly what is sent, passwords apart. */
export type BlackboxPlan = Assessment & { readonly input: ApplicationInput };

/** Shows what a blackbox run would do, where and for how many credits; `runs` are all there are, the newest first. `remarks` are paragraphs of the question. */
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
  const logins = plan.input.authentication?.credentials?.length ?? 0;
  const detail = [
    t('Destination: {0}, organization {1}', originOf(plan.baseUrl), plan.organizationId),
    originLines(plan.input, runs),
    countsLine(plan.input),
    limitsLabel(plan.workflow, plan.input),
    ...remarks,
    ...changesSinceLast(plan, runs),
    ...liveRuns(plan.input, runs),
    isCrawl
      ? t(
          'A crawl does no security testing, but it uses the application: it may log in, follow links and submit forms.',
        )
      : t('An assessment attacks the application: it may change and delete data there, and slow it down.'),
    t(
      'What to do and not to do are wishes, which the service need not follow; out-of-scope URLs are the exclusion that it offers.',
    ),
    t(
      'The service refuses applications whose ownership is not verified for your organization; only its answer says whether this one is.',
    ),
    ...(logins === 0
      ? []
      : [
          t(
            'The passwords of {0} go along, and the service logs in with them where it is told to. Use test accounts.',
            logins === 1 ? t('1 login') : t('{0} logins', formatNumber(logins)),
          ),
        ]),
    t('The run spends credits of your organization, and goes on while VS Code is closed.'),
  ].join('\n\n');
  const question = isCrawl ? t('Crawl {0}?', hosts) : t('Assess {0}?', hosts);
  const choice = await askInDialog({ question, detail }, start, show);
  if (choice === start) return 'start';
  return choice === show ? 'show' : undefined;
}

function originLines({ target_urls }: ApplicationInput, runs: readonly Run[]): string {
  const t = vscode.l10n.t;
  const own = runs.filter(({ state }) => state !== 'imported');
  const known = new Set(own.flatMap(({ input }) => (input?.target_urls ?? []).map(originOf)));
  const origins = [...new Set(target_urls.map(originOf))];
  // New ones first: of very many, the list shows the start.
  const isNew = (origin: string): boolean => !known.has(origin);
  return firstLines([
    ...origins.filter(isNew).map((origin) => t('{0} (first time from this machine)', origin)),
    ...origins.filter((origin) => !isNew(origin)),
  ]);
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

/** What is different from the last start from the same file. */
function changesSinceLast(plan: BlackboxPlan, runs: readonly Run[]): string[] {
  const { targetFile, workflow, input } = plan;
  const before = runs.flatMap((run) =>
    run.targetFile === targetFile && run.input !== undefined && run.input.resume === undefined
      ? [{ ...run, input: run.input }]
      : [],
  );
  const last = before.find((run) => run.workflow === workflow) ?? before[0];
  if (targetFile === undefined || last === undefined) return [];
  const changes = changesBetween(sentPartsOf(last), sentPartsOf(plan), workflow === 'blackbox-crawl');
  const [limits, now] = [limitsLabel(workflow, last.input), limitsLabel(workflow, input)];
  const lines = [
    ...describeChanges(changes),
    ...(last.workflow === workflow && limits !== now ? [`  + ${now}`, `  − ${limits}`] : []),
  ];
  if (lines.length === 0) return [];
  const since = vscode.l10n.t(
    'Since the last start from this file, on {0}, there was added (+) and removed (−):',
    formatTime(last.createdAt),
  );
  return [[since, ...lines].join('\n')];
}

/** Runs under way on one of the same origins: each spends credits, and they disturb each other. */
function liveRuns({ target_urls }: ApplicationInput, runs: readonly Run[]): string[] {
  const origins = new Set(target_urls.map(originOf));
  const live = runs.filter(
    (run) => !isFinal(run) && run.input?.target_urls.some((url) => origins.has(originOf(url))) === true,
  );
  if (live.length === 0) return [];
  const lines = live.map((run) => `${visibleLine(runLabel(run))}: ${visibleLine(stateLabel(run))}`);
  return [`${vscode.l10n.t('Runs under way on the same targets:')}\n${firstLines(lines)}`];
}

const scheme = 'whitebox-request';

/** Opens requests as read-only documents. */
export interface RequestDocuments extends Disposable {
  /** Opens the dispatch body of a run with its passwords hidden. */
  show(plan: BlackboxPlan): Promise<void>;
}

/** Provides the documents in which exact requests are shown; the last one is kept. */
export function provideRequests(): RequestDocuments {
  let shown = { number: 0, text: '' };
  const provider = vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: ({ path }) =>
      path.startsWith(`/${String(shown.number)}/`) ? shown.text : undefined,
  });
  return {
    async show(plan) {
      const passwords = (plan.input.authentication?.credentials ?? []).map(() => '••••');
      const body = workflows[plan.workflow].toRequest({ ...plan, targets: [] }, passwords);
      shown = { number: shown.number + 1, text: `${toVisibleJson(JSON.stringify(body)) ?? ''}\n` };
      const uri = vscode.Uri.from({ scheme, path: `/${String(shown.number)}/${plan.workflow}.json` });
      const document = await vscode.workspace.openTextDocument(uri);
      await vscode.languages.setTextDocumentLanguage(document, 'json');
      await vscode.window.showTextDocument(document);
    },
    dispose: () => {
      provider.dispose();
    },
  };
}
