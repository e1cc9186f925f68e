import * as vscode from 'vscode';
import { visibleLine, visibleText } from '../core/visibleText.ts';

type Show = <T extends string | vscode.MessageItem>(
  text: string,
  ...buttons: readonly T[]
) => Thenable<T | undefined>;

/** What VS Code declares once for texts and once for objects as buttons. */
const window: Readonly<Record<'showInformationMessage' | 'showWarningMessage' | 'showErrorMessage', Show>> =
  vscode.window;

/** Says something in a notification, as plain text on one line; gives the button that was pressed. */
export const showInformation: Show = (text, ...buttons) =>
  window.showInformationMessage(plainLine(text), ...buttons);

/** The same as a warning. */
export const showWarning: Show = (text, ...buttons) => window.showWarningMessage(plainLine(text), ...buttons);

/** The same as an error. */
export const showError: Show = (text, ...buttons) => window.showErrorMessage(plainLine(text), ...buttons);

/** The text of a dialog, which VS Code takes for no links. */
interface Question {
  readonly question: string;
  readonly detail?: string;
  readonly icon?: 'info' | 'warning';
  /** What the button is called that does nothing, which VS Code adds to every dialog: “Cancel” unless told. */
  readonly dismiss?: string;
}

/** Asks in a dialog, where Enter means the first answer and Escape none; undefined when it is dismissed. */
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

/** Text on one line that stays text in a notification: VS Code makes `[x](command:…)` in it a link that runs the command, whoever wrote it. */
export function plainLine(text: string): string {
  return visibleLine(text).replaceAll('](', ']\u2060(');
}
