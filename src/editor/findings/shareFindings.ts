import { lookup } from 'node:dns/promises';
import * as vscode from 'vscode';
import { asUnknown } from '../../core/errors.ts';
import {
  findTracker,
  type IssueTracker,
  newAdvisoryAddress,
  newIssueAddress,
} from '../../core/findings/importExport/issueTracker.ts';
import { fenceData } from '../../core/findings/agents/toolAnswers.ts';
import { type DetailedFinding, folderOf, type ShownFinding } from '../../core/findings/shownFinding.ts';
import { maskSecrets } from '../../core/upload/secrets/checkSecrets.ts';
import { findingMarkdown, type FindingWords } from '../../core/findings/view/findingMarkdown.ts';
import { runIdOf } from '../../core/run/state/run.ts';
import { clip, visibleLine } from '../../core/visibleText.ts';
import { answerOf } from '../../core/yieldingWork.ts';
import { remotesOf } from '../folders.ts';
import { countFindings } from '../formats.ts';
import { blockLabel, severityLabel, titleOfFinding, decisionLabel } from '../findingLabels.ts';
import { askInDialog, offerText, showInformation } from '../showMessage.ts';
import { toAddress } from './findingArguments.ts';
import { standingOf } from './findingDetails.ts';

const t = vscode.l10n.t;

const openChat = 'workbench.action.chat.open';

interface SharingDeps {
  readonly secretWorkerFile: string;
}

export async function copyFindings(
  shown: readonly DetailedFinding[],
  { secretWorkerFile }: SharingDeps,
): Promise<void> {
  await vscode.env.clipboard.writeText(findingsMarkdown(await maskSecrets(shown, secretWorkerFile)));
  const message = t('{0} copied as Markdown.', countFindings(shown.length));
  vscode.window.setStatusBarMessage(message, messageShownMs);
}

export async function fixWithAgent(
  shown: readonly DetailedFinding[],
  { secretWorkerFile }: SharingDeps,
): Promise<void> {
  const request = t(
    'Fix the vulnerabilities described below. First verify each one in the code. If it isn’t a vulnerability, say so and change nothing. Keep the change small and the tests passing.',
  );
  await handToAgent(request, findingsMarkdown(await maskSecrets(shown, secretWorkerFile)));
}

/** Sends nothing: the user sends the draft. */
export async function handToAgent(request: string, data: string): Promise<void> {
  const query = `${request}\n\n${fenceData(data)}`;
  if (await showInChat(query)) return;
  await vscode.env.clipboard.writeText(query);
  await offerText(
    t(
      'Chat isn’t available in this editor. The request was copied to the clipboard. Paste it into your agent.',
    ),
    query,
  );
}

async function showInChat(query: string): Promise<boolean> {
  // The command may exist although AI features are off.
  const isOff = vscode.workspace.getConfiguration('chat').get<boolean>('disableAIFeatures', false);
  if (isOff || !(await vscode.commands.getCommands(true)).includes(openChat)) return false;
  const draft = { query, isPartialQuery: true, mode: 'agent' };
  const opening = answerOf(vscode.commands.executeCommand(openChat, draft), openChat);
  return (await opening.then(() => true, asUnknown)) ?? false;
}

export function findingsMarkdown(shown: readonly DetailedFinding[]): string {
  const words: FindingWords = {
    severity: t('Severity'),
    location: t('Location'),
    feature: t('Feature'),
    perspective: t('Perspective'),
    otherLocations: t('Other locations'),
    triage: t('Triage'),
    owner: t('Owner'),
    description: t('Description'),
    severityOf: severityLabel,
    triageOf: decisionLabel,
    standingOf,
    blockOf: blockLabel,
  };
  return shown.map((finding) => findingMarkdown(finding, words)).join('\n');
}

const maxTitleLength = 200;
const messageShownMs = 5_000;

export async function shareFinding(unmasked: DetailedFinding, deps: SharingDeps): Promise<void> {
  const tracker = await trackerOf(unmasked);
  const shown = await maskSecrets(unmasked, deps.secretWorkerFile);
  const link = linkTo(shown);
  const items: { label: string; detail: string; act: () => Promise<void> }[] = [];
  if (link !== undefined)
    items.push({ label: t('Copy Link'), detail: t('With title and run ID'), act: () => copyLink(link) });
  if (tracker !== undefined) {
    const detail = `${tracker.host}/${tracker.repository}`;
    items.push({ label: t('Open Issue…'), detail, act: () => openIssue(shown, link, tracker) });
  }
  if (items.length === 0) {
    const copy = t('Copy Finding as Markdown');
    const message = t(
      'There is nothing to share. This run has no ID on a service, and VS Code found no issue tracker.',
    );
    if ((await showInformation(message, copy)) === copy) await copyFindings([shown], deps);
    return;
  }
  const title = t('Share “{0}”', clip(titleOfFinding(shown.finding), 60));
  await (await vscode.window.showQuickPick(items, { title }))?.act();
}

/** Returns undefined for a run without an ID on a service: other people couldn't find that run. */
function linkTo(shown: ShownFinding): string | undefined {
  const { run, finding } = shown;
  const runId = runIdOf(run);
  if (runId === undefined) return undefined;
  const about = t('Run {0}', visibleLine(runId));
  return [titleOfFinding(finding), about, toAddress(shown).toString(true)].join('\n');
}

async function copyLink(link: string): Promise<void> {
  await vscode.env.clipboard.writeText(link);
  vscode.window.setStatusBarMessage(t('Link copied.'), messageShownMs);
}

const maxLookupMs = 2_000;

/** The host of a remote may be an alias that only SSH knows, so unfamiliar hosts are looked up. */
async function trackerOf(shown: ShownFinding): Promise<IssueTracker | undefined> {
  const folder = folderOf(shown) ?? shown.run.targets[0]?.folder;
  const remotes = folder === undefined ? [] : await remotesOf(folder);
  return findTracker(remotes, (host) =>
    answerOf(lookup(host), host, { maxMs: maxLookupMs }).then(
      () => true,
      () => false,
    ),
  );
}

async function openIssue(
  shown: DetailedFinding,
  link: string | undefined,
  tracker: IssueTracker,
): Promise<void> {
  const { id } = shown.finding;
  const advisory = newAdvisoryAddress(tracker);
  const inPrivate = t('Open Private Security Advisory');
  const openly = t('Open Issue');
  const question = t('Open a page for this finding in {0}?', `${tracker.host}/${tracker.repository}`);
  const detail = [
    t(
      'Other people may see what you write on that page. The finding describes a vulnerability that might not be fixed yet.',
    ),
    t(
      'The URL for a new issue contains the title and ID of the finding. The description is copied to the clipboard so that you can paste it into the page. Nothing is published until you submit it.',
    ),
  ];
  const choice = await askInDialog({ question, detail }, advisory !== undefined && inPrivate, openly);
  if (choice === undefined) return;
  const title = `${clip(titleOfFinding(shown.finding), maxTitleLength)} (${clip(id, 100)})`;
  const address = choice === inPrivate ? advisory : newIssueAddress(tracker, title);
  await vscode.env.clipboard.writeText([findingsMarkdown([shown]), link].join('\n'));
  // The address is passed as text, because a Uri would be encoded twice.
  await vscode.commands.executeCommand('vscode.open', address);
}
