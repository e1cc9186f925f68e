import { afterEach, beforeEach } from 'mocha';
import * as vscode from 'vscode';
import { resetUserSettings } from './userSettings.ts';

/** A message that the extension had VS Code show. */
export interface ShownMessage {
  readonly text: string;
  readonly detail: string;
  readonly isModal: boolean;
  /** As which it is shown. */
  readonly severity: 'Information' | 'Warning' | 'Error';
  readonly buttons: readonly string[];
}

/** The messages since the watch began. */
export interface MessageWatch {
  readonly shown: readonly ShownMessage[];
  /** From now on VS Code shows messages itself. */
  end(): void;
}

/** What VS Code makes a link, and a click on it a command (`linkedText.ts`). */
export const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
type Show = (text: string, ...rest: unknown[]) => Promise<unknown>;

/** Takes the place of the person before messages: `press` names the button for each, at once or later; undefined dismisses it. */
export function watchMessages(
  press: (message: ShownMessage) => string | undefined | Promise<string | undefined> = () => undefined,
): MessageWatch {
  const shown: ShownMessage[] = [];
  const window = vscode.window as unknown as Record<string, Show>;
  const severities = ['Information', 'Warning', 'Error'] as const;
  const nameOf = (severity: ShownMessage['severity']): string => `show${severity}Message`;
  const own = severities.map((severity) => [nameOf(severity), window[nameOf(severity)]!] as const);
  const showAs = async (
    severity: ShownMessage['severity'],
    text: string,
    rest: readonly unknown[],
  ): Promise<unknown> => {
    const [first] = rest;
    const options = isOptions(first) ? first : {};
    const buttons = (isOptions(first) ? rest.slice(1) : rest) as (string | vscode.MessageItem)[];
    const titleOf = (button: string | vscode.MessageItem): string =>
      typeof button === 'string' ? button : button.title;
    const { modal = false, detail = '' } = options;
    const message = { text, detail, isModal: modal, severity, buttons: buttons.map(titleOf) };
    shown.push(message);
    const pressed = await press(message);
    return buttons.find((button) => titleOf(button) === pressed);
  };
  for (const severity of severities)
    window[nameOf(severity)] = (text, ...rest) => showAs(severity, text, rest);
  return {
    shown,
    end: () => {
      for (const [name, original] of own) window[name] = original;
    },
  };
}

/** The calls of one command of VS Code, each with its arguments, which it does not get; all other commands go on to it. */
export function recordCommand(recorded: string): {
  readonly calls: readonly unknown[][];
  readonly end: () => void;
} {
  const { executeCommand } = vscode.commands;
  const calls: unknown[][] = [];
  Object.assign(vscode.commands, {
    executeCommand: (command: string, ...args: unknown[]) =>
      command === recorded ? Promise.resolve(void calls.push(args)) : executeCommand(command, ...args),
  });
  return { calls, end: () => void Object.assign(vscode.commands, { executeCommand }) };
}

/** The messages of the test that runs, for a suite whose tests let VS Code show none; settings that a test makes are taken back after it. */
export function watchEachTest(): () => readonly ShownMessage[] {
  let watch: MessageWatch | undefined;
  beforeEach(() => {
    watch = watchMessages();
  });
  afterEach(async () => {
    watch?.end();
    await resetUserSettings();
  });
  return () => watch?.shown ?? [];
}

function isOptions(value: unknown): value is vscode.MessageOptions {
  return typeof value === 'object' && value !== null && !('title' in value);
}
