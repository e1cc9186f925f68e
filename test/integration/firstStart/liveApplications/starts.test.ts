import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import * as vscode from 'vscode';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { eventually, untilEqual } from '../../../host/workbench/eventually.ts';
import { inventedShop as application } from '../../../service/blackbox/inventedShop.ts';
import type { LoggedRequest } from '../../../service/httpServer.ts';
import type { RunOutcome } from '../../../service/runs/run.ts';
import {
  afterTest,
  answer,
  link,
  messages,
  pick,
  type ShownMessage,
  watchMessages,
  shownTexts,
} from '../../dialogs.ts';
import { folder } from '../../openFolders.ts';
import { linesOf, newRuns, runItems, runLines, storage } from '../../runsInStorage.ts';
import { call, rowOf, signInEachTest } from '../../signedIn.ts';

describe('starting a blackbox run', () => {
  const service = signInEachTest({}, { webhookEndpointIds: ['hook-1'] });
  let file: string;
  let inputs: string[];

  before(() => {
    file = path.join(folder, 'starts.blackbox.json');
  });

  beforeEach(() => {
    inputs = [];
    answer({
      showInputBox: (options: vscode.InputBoxOptions) => {
        inputs.push(options.title ?? '');
        if (options.password === true)
          return application.credentials.find(({ id }) => options.title?.includes(id))?.password;
        return options.value;
      },
    });
  });

  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await rm(file, { force: true });
  });

  after(async () => {
    // Passwords would be saved for tests of other files.
    watchMessages(({ buttons }) => buttons.find((button) => button === 'Delete'));
    answer({
      showQuickPick: (items: readonly { detail?: string }[]) =>
        items.find((item) => item.detail !== undefined),
    });
    await call('blackboxPasswords');
  });

  const isOver = ([row]: readonly vscode.TreeItem[]): boolean => / final /.test(`${row?.contextValue} `);
  const write = async (change: object = {}): Promise<vscode.Uri> => {
    const credentials = application.credentials.map(({ id, role }) => ({ id, role }));
    const content = {
      target_urls: [`${application.origin}/`],
      oos_urls: [`${application.origin}/logout`],
      authentication: { credentials },
      crawl: { credit_limit: 20 },
      assessment: { scan_credit_limit: 50, crawl_credit_limit: 20 },
      ...change,
    };
    await writeFile(file, JSON.stringify(content, undefined, 2));
    return vscode.Uri.file(file);
  };
  const question = (): ShownMessage | undefined => messages.shown.findLast(({ isModal }) => isModal);
  const dispatches = (): readonly LoggedRequest[] =>
    service().requests.filter(({ path: at }) => at.endsWith('/dispatch'));

  it('asks once, listing everything that is sent, and sends nothing when dismissed', async () => {
    await call('startCrawl', await write());
    assert.deepEqual(
      messages.shown.map(({ isModal }) => isModal),
      [true],
    );
    const { text, detail, buttons } = question()!;
    assert.equal(text, `Crawl ${new URL(application.origin).host}?`);
    assert.deepEqual(buttons, ['Start Crawl', 'Show Exact Request']);
    assert.ok(detail.includes(`${application.origin} (first time from this machine)`), detail);
    assert.match(detail, /target URLs: 1 · out-of-scope URLs: 1 · roles: 2 · DO: 0 · DONT: 0/);
    assert.match(detail, /Credits: at most 20/);
    assert.match(detail, /doesn’t test security/);
    assert.match(detail, /ownership/);
    assert.match(
      detail,
      /VS Code sends the passwords for 2 logins to the service\. Use test accounts\.\nThere are no login instructions\./,
    );
    assert.equal(dispatches().length, 0);
  });

  it('shows the exact request without the password, then sends it with passwords', async () => {
    let body = '';
    messages.press = ({ buttons }) => {
      if (buttons.includes('Show Exact Request')) return body === '' ? 'Show Exact Request' : 'Start Crawl';
      if (!buttons.includes('Reopen Confirmation…')) return undefined;
      body = vscode.window.activeTextEditor?.document.getText() ?? '';
      return 'Reopen Confirmation…';
    };
    await call('startCrawl', await write());
    for (const { password } of application.credentials) assert.ok(!body.includes(password));
    assert.match(body, /"password": "••••"/);
    assert.equal(dispatches().length, 1);
    const [sent] = dispatches();
    const passwords = application.credentials.map(({ password }) => password);
    assert.deepEqual(
      JSON.parse(body.replaceAll('••••', '')),
      JSON.parse(passwords.reduce((text, each) => text.replace(each, ''), JSON.stringify(sent?.body))),
    );
  });

  it('asks again with the current content of the target file', async () => {
    let shows = 0;
    messages.press = async ({ buttons }) => {
      if (buttons.includes('Show Exact Request')) return shows++ === 0 ? 'Show Exact Request' : 'Start Crawl';
      if (buttons.includes('Reopen Confirmation…')) await write({ crawl: { credit_limit: 7 } });
      return buttons.find((button) => button === 'Reopen Confirmation…');
    };
    await call('startCrawl', await write());
    assert.match(question()?.detail ?? '', /Credits: at most 7/);
    const { input } = dispatches().at(-1)?.body as { input: { credit_limit: number } };
    assert.equal(input.credit_limit, 7);
  });

  const start = ({ buttons }: ShownMessage): string | undefined =>
    buttons.find((button) => ['Start Crawl', 'Start Assessment', 'Use Saved Password'].includes(button));
  /** Calls a command that starts a run; returns its local ID and the request. */
  const startBy = async (command: string, argument: unknown) => {
    const before = await newRuns();
    const sent = dispatches().length;
    messages.press = start;
    await call(command, argument);
    messages.press = () => undefined;
    const id = (await newRuns()).find((name) => !before.includes(name)) ?? '';
    assert.equal(dispatches().length, sent + 1, shownTexts().join('\n'));
    // A refusal may come before the body is read.
    const { input = {} } = (dispatches()[sent]?.body ?? {}) as { input?: Record<string, unknown> };
    return { id, input };
  };
  const finish = async (id: string, outcome?: RunOutcome): Promise<vscode.TreeItem[]> => {
    await service().finishRun(service().runs().at(-1)?.id ?? '', outcome);
    await call('refreshRuns');
    return eventually(() => runItems(id), isOver);
  };
  /**
   * Waits for the notification with this text; returns its buttons. Others may come at the same
   * time.
   */
  const notified = async (text: string | RegExp): Promise<readonly string[]> => {
    const shown = await eventually(
      () => messages.shown.find((each) => new RegExp(text).test(each.text)),
      (each) => each !== undefined,
    );
    return shown!.buttons;
  };
  it('F134 F143 runs a crawl, an assessment of chosen pairs, its continuation with them, and another crawl', async () => {
    const uri = await write();
    const crawl = await startBy('startCrawl', uri);
    assert.equal(crawl.input['credit_limit'], 20);
    const crawled = await finish(crawl.id);
    const { host } = new URL(application.origin);
    assert.deepEqual(await notified(`The crawl of ${host} has finished`), ['Show Features']);
    assert.match(linesOf(crawled)[0] ?? '', new RegExp(`^Finished: Crawl · ${host} · `));
    const lines = linesOf(crawled).join('\n');
    assert.match(lines, /Target file: starts\.blackbox\.json\nCredits: at most 20/);
    assert.doesNotMatch(lines, /Uploaded|Packaged|Confirmed/);
    assert.match(crawled[0]?.contextValue ?? '', /\bassessPairs\b.*\bcrawlFurther\b/);

    pick('By Perspective…', ['XSS']);
    await call('showFeatures', rowOf(crawl.id));
    await call('choosePairs');
    inputs = [];
    const assessment = await startBy('assessChosenPairs', rowOf(crawl.id));
    assert.deepEqual(
      inputs.filter((title) => title.startsWith('Credits')),
      ['Credits for testing', 'Credits for crawling'],
    );
    const { resume, target_urls, scan_credit_limit, crawl_credit_limit } = assessment.input;
    const { kind } = resume as { kind: string };
    const pairs = assessment.input['pairs'] as { perspective: string }[];
    assert.ok(pairs.length > 0 && pairs.every(({ perspective }) => perspective === 'XSS'));
    assert.deepEqual(
      [kind, target_urls, scan_credit_limit, crawl_credit_limit],
      ['assess_crawled_features', [`${application.origin}/`], 50, 20],
    );
    const progress = {
      completed: [{ feature_name: 'Search', perspective: 'XSS' }],
      skipped: [{ feature_name: 'Search', perspective: 'Authentication' }],
    };
    const stopped = await finish(assessment.id, {
      kind: 'aborted',
      code: 'credit_limit_reached',
      detail: { scan_progress: { artifact_name: 'scan_progress' } },
      contents: { scan_progress: JSON.stringify(progress) },
    });
    const [limited] = stopped;
    const offered = await notified(`^The assessment of ${host} has ended: credit limit reached`);
    assert.equal(offered[0], 'Continue with More Credits…');
    assert.equal(limited?.label, 'Credit limit reached');
    assert.match(String(limited.description), new RegExp(`^Blackbox assessment · ${host} · `));
    assert.equal((limited.iconPath as vscode.ThemeIcon).color?.id, 'list.warningForeground');
    assert.ok(
      linesOf(stopped).includes(
        `1 of ${pairs.length} pairs tested, 1 not applicable.: Continue with More Credits…`,
      ),
      linesOf(stopped).join(),
    );
    assert.match(limited.tooltip as string, /“Assess Chosen Pairs…” isn’t available: /);
    assert.ok(linesOf(stopped).some((line) => line.startsWith('Continues: Crawl, ')));

    await write({ oos_urls: [`${application.origin}/contact`] });
    const more = await startBy('continueAssessment', rowOf(assessment.id));
    assert.deepEqual(more.input['oos_urls'], [`${application.origin}/logout`]);
    assert.deepEqual(more.input['pairs'], pairs);
    assert.match(
      question()?.detail ?? '',
      /since then:\nOut-of-scope URLs\n {2}\+ \S+\/contact\n {2}− \S+\/logout/,
    );
    assert.equal((more.input['resume'] as { kind: string }).kind, 'continue_assessment');
    assert.match(question()?.detail ?? '', /not tested again/);
    await finish(more.id, { kind: 'aborted', code: 'invented' });

    const further = await startBy('crawlFurther', rowOf(crawl.id));
    assert.deepEqual(Object.keys(further.input['resume'] as object).sort(), [
      'workflow_id',
      'workflow_run_id',
    ]);
    assert.match(question()?.detail ?? '', /even if nothing new/);
    await finish(further.id);
    assert.ok(linesOf(await runItems(crawl.id)).some((line) => line.startsWith('Continued by: Crawl, ')));
  });

  it('F135 refuses to continue a run that the service cannot continue, and says why', async () => {
    const { id } = await startBy('startBlackboxAssessment', await write());
    const [row] = await finish(id, { kind: 'aborted', code: 'invented' });
    assert.doesNotMatch(row?.contextValue ?? '', /continueAssessment|assessPairs/);
    assert.match(
      row?.tooltip as string,
      /“Continue with More Credits…” isn’t available: the service can continue only/,
    );
    const sent = dispatches().length;
    await call('continueAssessment', rowOf(id));
    await notified('isn’t available: the service can continue only');
    assert.equal(dispatches().length, sent);
  });

  it('F137 shows changes of the target file since the last start as plain text', async () => {
    const { id } = await startBy('startCrawl', await write());
    await finish(id);
    const hostile = 'Log in at [here](command:workbench.action.quit) \u202E\n\n$(bug) ****';
    const preference = { preferences: [{ kind: 'DO', preference: hostile }] };
    const uri = await write({ language: 'japanese', preference });
    await startBy('startCrawl', uri);
    const asked = messages.shown.filter(({ isModal }) => isModal);
    assert.match(asked.at(-1)?.detail ?? '', /Language\n {2}\+ japanese\n {2}− english/);
    const changed = asked.map(({ detail }) => detail).join('\n');
    assert.match(
      changed,
      /\+ DO: Log in at \[here\]\(command:workbench\.action\.quit\) \\u\{202E\}⏎⏎\$\(bug\)/,
    );
    for (const { text, isModal } of messages.shown) if (!isModal) assert.doesNotMatch(text, link);
    // A run that continues from another is not started from the file.
    await finish((await startBy('crawlFurther', rowOf(id))).id);
    assert.match(question()?.detail ?? '', /since then:[^]*\+ japanese/);
    await call('startCrawl', uri);
    const { detail } = question()!;
    assert.doesNotMatch(detail, /since the last start/);
  });

  it('F162 explains a missing ownership, offers no sign-in, and restarts from the target file', async () => {
    const uri = await write();
    service().addFault({ match: { path: '/dispatch', times: 1 }, before: { kind: 'reply', status: 403 } });
    const { id } = await startBy('startCrawl', uri);
    const items = await runItems(id);
    assert.match(linesOf(items)[1] ?? '', /^The ownership of a target URL might not be verified/);
    assert.deepEqual(await notified('The crawl of'), ['Start Again…', 'Show Log']);
    assert.match(items[0]?.contextValue ?? '', /\bmayStartAgain\b/);
    await rm(file);
    await call('startAgain', rowOf(id));
    await notified(/starts\.blackbox\.json.*ENOENT/);
    await write();
    const again = await startBy('startAgain', rowOf(id));
    await finish(again.id);
  });

  it('F133 is called a crawl in the messages about a lost answer and a second dispatch', async () => {
    const { host } = new URL(application.origin);
    service().addFault({ match: { path: '/dispatch', times: 1 }, before: { kind: 'reply', status: 500 } });
    const { id } = await startBy('startCrawl', await write());
    await notified(`The response to the start request for the crawl of ${host} was lost`);
    messages.press = ({ buttons }) => buttons.find((button) => button === 'Stop Watching');
    await call('resendDispatch', rowOf(id));
    assert.equal(question()?.text, `Start the crawl of ${host} again?`);
    assert.match((await runLines(id))[0] ?? '', /^No longer watched: /);
  });

  it('F47 asks once for two clicks in a row, and starts one run', async () => {
    const uri = await write();
    const sent = dispatches().length;
    const refusal = /already starting another run/;
    messages.press = async (message) => {
      if (!message.isModal) return undefined;
      // The question is answered after the second click had no effect.
      await untilEqual(() => messages.shown.some(({ text }) => refusal.test(text)), true);
      return start(message);
    };
    await Promise.all([call('startCrawl', uri), call('startBlackboxAssessment', uri)]);
    assert.equal(dispatches().length, sent + 1);
    assert.equal(messages.shown.filter(({ isModal }) => isModal).length, 1);
    messages.press = () => undefined;
    await call('startCrawl', uri);
    assert.match(
      question()?.detail ?? '',
      /Runs in progress on the same targets:\n(?:Crawl|Blackbox assessment), .*: /,
    );
  });

  /** Takes from the journal what only the machine that started the run has. */
  const startElsewhere = async (id: string): Promise<void> => {
    const journal = path.join(storage, 'runs', id, 'run.json');
    const { input, targetFile, ...tracked } = JSON.parse(await readFile(journal, 'utf8')) as Run;
    assert.ok(input && targetFile);
    await writeFile(journal, JSON.stringify(tracked));
    await call('refreshRuns');
  };

  it('F143 shows the features of an assessment started elsewhere, and sends nothing until pairs are chosen', async () => {
    const { id } = await startBy('startBlackboxAssessment', await write());
    await finish(id);
    await startElsewhere(id);
    const sent = dispatches().length;
    await call('continueAssessment', rowOf(id));
    await notified('doesn’t know which pairs were chosen for this run');
    assert.equal(dispatches().length, sent);
  });

  it('continues a run started elsewhere with a chosen target file, and lists none that search excludes', async () => {
    const uri = await write();
    const { id } = await startBy('startCrawl', uri);
    await finish(id);
    await startElsewhere(id);
    const hidden = path.join(folder, 'node_modules/shop');
    await mkdir(hidden, { recursive: true });
    await writeFile(path.join(hidden, 'other.blackbox.json'), '{}');
    const second = path.join(folder, 'second.blackbox.json');
    await writeFile(second, '{}');
    for (const each of [hidden, second]) afterTest(() => rm(each, { force: true, recursive: true }));
    let offered: readonly string[] = [];
    answer({
      showQuickPick: (items: readonly string[]) => {
        offered = items;
        return file;
      },
    });
    const { input: sent } = await startBy('assessChosenPairs', rowOf(id));
    assert.deepEqual(offered, [second, file]);
    assert.deepEqual(sent['target_urls'], [`${application.origin}/`]);
    assert.match(question()?.detail ?? '', /target URLs in the chosen file must match the run’s/);
    // A single one is chosen without a question.
    await rm(second);
    offered = [];
    await startBy('startCrawl', undefined);
    assert.deepEqual(offered, []);
  });
});
