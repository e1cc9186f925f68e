import * as vscode from 'vscode';
import { visibleLine, visibleText } from '../core/visibleText.ts';
import { compact } from './formats.ts';

export interface MessageAction {
  readonly title: string;
  readonly command: string;
  readonly arguments?: unknown[];
}

type Show = <T extends string | vscode.MessageItem>(
  text: string,
  ...buttons: readonly T[]
) => Thenable<T | undefined>;

/** VS Code's overloads take strings or objects as buttons. This signature fits both. */
const window: Readonly<Record<'showInformationMessage' | 'showWarningMessage' | 'showErrorMessage', Show>> =
  vscode.window;

export const showInformation: Show = (text, ...buttons) =>
  runPressed(window.showInformationMessage(plainLine(text), ...buttons));

export const showWarning: Show = (text, ...buttons) =>
  runPressed(window.showWarningMessage(plainLine(text), ...buttons));

export const showError: Show = (text, ...buttons) =>
  runPressed(window.showErrorMessage(plainLine(text), ...buttons));

async function runPressed<T extends string | vscode.MessageItem>(
  pressed: Thenable<T | undefined>,
): Promise<T | undefined> {
  const button = await pressed;
  if (typeof button === 'object' && 'command' in button) await runAction(button as unknown as MessageAction);
  return button;
}

export async function runAction({ command, arguments: args = [] }: MessageAction): Promise<void> {
  await vscode.commands.executeCommand(command, ...args);
}

export async function offerText(message: string, content: string): Promise<void> {
  const show = vscode.l10n.t('Show');
  if ((await showInformation(message, show)) !== show) return;
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content }));
}

/** VS Code makes no links in a dialog, so these texts need no `plainLine`. */
interface Question {
  readonly question: string;
  readonly detail?: string | readonly (string | false | undefined)[];
  readonly icon?: 'info' | 'warning';
  readonly dismiss?: string;
}

/** Enter gives the first answer. */
export async function askInDialog<T extends string>(
  { question, detail = '', icon = 'warning', dismiss }: Question,
  ...answers: readonly (T | false)[]
): Promise<T | undefined> {
  const show: (
    text: string,
    options: vscode.MessageOptions,
    ...items: vscode.MessageItem[]
  ) => Thenable<vscode.MessageItem | undefined> =
    icon === 'info' ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
  const titles = answers.filter((answer) => answer !== false);
  const paragraphs = compact(...[detail].flat());
  const chosen = await show(
    visibleLine(question),
    { modal: true, detail: visibleText(paragraphs.join('\n\n')) },
    ...titles.map((title) => ({ title })),
    ...(dismiss === undefined ? [] : [{ title: dismiss, isCloseAffordance: true }]),
  );
  return titles.find((title) => title === chosen?.title);
}

/** In a notification, VS Code would make `[x](command:…)` a link that runs the command. */
export function plainLine(text: string): string {
  return visibleLine(text).replaceAll('](', ']\u2060(');
}
