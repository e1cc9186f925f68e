import * as vscode from 'vscode';
import { visibleLine, visibleText } from '../core/visibleText.ts';

type Show = <T extends string | vscode.MessageItem>(
  text: string,
  ...buttons: readonly T[]
) => Thenable<T | undefined>;

/** VS Code's functions, whose overloads for strings and for objects as buttons are one signature here. */
const window: Readonly<Record<'showInformationMessage' | 'showWarningMessage' | 'showErrorMessage', Show>> =
  vscode.window;

/** Shows a notification, as plain text on one line; resolves to the pressed button. */
export const showInformation: Show = (text, ...buttons) =>
  window.showInformationMessage(plainLine(text), ...buttons);

/** The same as a warning. */
export const showWarning: Show = (text, ...buttons) => window.showWarningMessage(plainLine(text), ...buttons);

/** The same as an error. */
export const showError: Show = (text, ...buttons) => window.showErrorMessage(plainLine(text), ...buttons);

/** Shows a notification about a text on the clipboard, with a button that opens the text. */
export async function offerText(message: string, content: string): Promise<void> {
  const show = vscode.l10n.t('Show');
  if ((await showInformation(message, show)) !== show) return;
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content }));
}

/** The text of a dialog. VS Code makes no links in it. */
interface Question {
  readonly question: string;
  readonly detail?: string;
  readonly icon?: 'info' | 'warning';
  /** The label of the button that dismisses the dialog; VS Code's own is “Cancel”. */
  readonly dismiss?: string;
}

/** Asks in a dialog. Enter gives the first answer; undefined when it is dismissed. */
export async function askInDialog<T extends string>(
  { question, detail, icon = 'warning', dismiss }: Question,
  ...answers: readonly T[]
): Promise<T | undefined> {
  const show: (
    text: string,
    options: vscode.MessageOptions,
    ...items: vscode.MessageItem[]
  ) => Thenable<vscode.MessageItem | undefined> =
    icon === 'info' ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
  const chosen = await show(
    visibleLine(question),
    { modal: true, ...(detail === undefined ? {} : { detail: visibleText(detail) }) },
    ...answers.map((title) => ({ title })),
    ...(dismiss === undefined ? [] : [{ title: dismiss, isCloseAffordance: true }]),
  );
  return answers.find((title) => title === chosen?.title);
}

/** One line that is safe in a notification, where VS Code would make `[x](command:…)` a link that runs the command. */
export function plainLine(text: string): string {
  return visibleLine(text).replaceAll('](', ']\u2060(');
}
