import { afterEach, beforeEach } from 'mocha';
import * as vscode from 'vscode';
import { resetUserSettings } from './userSettings.ts';

export interface ShownMessage {
  readonly text: string;
  readonly detail: string;
  readonly isModal: boolean;
  /** As which it is shown. */
  readonly severity: 'Information' | 'Warning' | 'Error';
  readonly buttons: readonly string[];
}

/** The messages since the watch began, to the end of the test. */
export interface MessageWatch {
  readonly shown: readonly ShownMessage[];
}

type Members = Readonly<Record<string, (...args: never[]) => unknown>>;

const undo: (() => void)[] = [];

// Before and after each test of the whole run.
for (const hook of [beforeEach, afterEach])
  hook(() => {
    for (const each of undo.splice(0).reverse()) each();
  });

/** Replaces members of a part of VS Code's API until the test has ended. */
export function replace(part: object, members: Members): void {
  const own = Object.fromEntries(Object.keys(members).map((name) => [name, Reflect.get(part, name)]));
  undo.push(() => void Object.assign(part, own));
  Object.assign(part, members);
}

/** Answers dialogs (`showInputBox`, `showQuickPick` and so on) in the place of a person until the test has ended. */
export function answer(dialogs: Members): void {
  const answers = Object.entries(dialogs).map(
    ([name, give]) => [name, (...args: never[]) => Promise.resolve(give(...args))] as const,
  );
  replace(vscode.window, Object.fromEntries(answers));
}

/** What VS Code makes a link, and a click on it a command (`linkedText.ts`). */
export const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

/** Takes the place of the person before messages: `press` names the button for each, at once or later; undefined dismisses it. */
export function watchMessages(
  press: (message: ShownMessage) => string | undefined | Promise<string | undefined> = () => undefined,
): MessageWatch {
  const shown: ShownMessage[] = [];
  const severities = ['Information', 'Warning', 'Error'] as const;
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
  const members = severities.map((severity) => [
    `show${severity}Message`,
    (text: string, ...rest: unknown[]) => showAs(severity, text, rest),
  ]);
  replace(vscode.window, Object.fromEntries(members) as Members);
  return { shown };
}

/** The calls of one command of VS Code, each with its arguments, which it does not get; all other commands go on to it. */
export function recordCommand(recorded: string): { readonly calls: readonly unknown[][] } {
  const { executeCommand } = vscode.commands;
  const calls: unknown[][] = [];
  replace(vscode.commands, {
    executeCommand: (command: string, ...args: unknown[]) =>
      command === recorded ? Promise.resolve(void calls.push(args)) : executeCommand(command, ...args),
  });
  return { calls };
}

/** The messages of the test that runs, for a suite whose tests let VS Code show none; settings that a test makes are taken back after it. */
export function watchEachTest(): () => readonly ShownMessage[] {
  let watch: MessageWatch | undefined;
  beforeEach(() => {
    watch = watchMessages();
  });
  afterEach(resetUserSettings);
  return () => watch?.shown ?? [];
}

function isOptions(value: unknown): value is vscode.MessageOptions {
  return typeof value === 'object' && value !== null && !('title' in value);
}
