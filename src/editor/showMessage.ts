import * as vscode from 'vscode';

type Show = <T extends string | vscode.MessageItem>(
  text: string,
  ...buttons: readonly T[]
) => Thenable<T | undefined>;

/** What VS Code declares once for texts and once for objects as buttons. */
const window: Readonly<Record<'showInformationMessage' | 'showWarningMessage' | 'showErrorMessage', Show>> =
  vscode.window;

/** Says something in a notification, as plain text; gives the button that was pressed. */
export const showInformation: Show = (text, ...buttons) =>
  window.showInformationMessage(withoutLinks(text), ...buttons);

/** The same as a warning. */
export const showWarning: Show = (text, ...buttons) =>
  window.showWarningMessage(withoutLinks(text), ...buttons);

/** The same as an error. */
export const showError: Show = (text, ...buttons) => window.showErrorMessage(withoutLinks(text), ...buttons);

/** Asks in a dialog, whose text VS Code leaves as it is; undefined when it is cancelled. */
export function askInDialog<T extends string>(
  { question, detail, icon = 'warning' }: { question: string; detail?: string; icon?: 'info' | 'warning' },
  ...answers: readonly T[]
): Thenable<T | undefined> {
  const show = icon === 'info' ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
  return show(question, { modal: true, ...(detail === undefined ? {} : { detail }) }, ...answers);
}

/** Text that stays text in a notification: VS Code makes `[x](command:…)` in it a link that runs the command, whoever wrote it. */
export function withoutLinks(text: string): string {
  return text.replaceAll('](', ']\u2060(');
}
