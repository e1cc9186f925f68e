import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'mocha';
import * as vscode from 'vscode';

export interface ShownMessage {
  readonly text: string;
  readonly detail: string;
  readonly isModal: boolean;
  readonly severity: 'Information' | 'Warning' | 'Error';
  readonly buttons: readonly string[];
}

/** Messages are recorded from the start of the watch to the end of the test. */
export interface MessageWatch {
  readonly shown: readonly ShownMessage[];
}

/** Returns the button to press; undefined dismisses the message. */
type Press = (message: ShownMessage) => string | undefined | Promise<string | undefined>;

export const messages: MessageWatch & { press: Press } = { shown: [], press: () => undefined };

type Members = Readonly<Record<string, (...args: never[]) => unknown>>;

const undo: (() => unknown)[] = [];

export const shownTexts = (): string[] => messages.shown.map(({ text }) => text);

/** Does the work after the running test. The work that was added last is done first. */
export function afterTest(work: () => unknown): void {
  undo.push(work);
}

/** The folder exists until the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'integration-'));
  afterTest(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

// The hooks run before and after each test of the whole run.
for (const hook of [beforeEach, afterEach])
  hook(async () => {
    for (const each of undo.splice(0).reverse()) await each();
  });

beforeEach(() => {
  messages.press = () => undefined;
  Object.assign(
    messages,
    watchMessages((message) => messages.press(message)),
  );
});

/** Stubs members of VS Code's API until the test ends. */
export function replace(part: object, members: Members): void {
  const own = Object.fromEntries(Object.keys(members).map((name) => [name, Reflect.get(part, name)]));
  afterTest(() => Object.assign(part, own));
  Object.assign(part, members);
}

/** Answers dialogs (`showInputBox`, `showQuickPick` and so on) until the test ends. */
export function answer(dialogs: Members): void {
  const answers = Object.entries(dialogs).map(
    ([name, give]) => [name, (...args: never[]) => Promise.resolve(give(...args))] as const,
  );
  replace(vscode.window, Object.fromEntries(answers));
}

/**
 * Picks the item with a label, or the items with a list of labels, in each of the next quick picks.
 * The returned array gets the items that each quick pick offers.
 */
export function pick(...labels: (string | readonly string[])[]): (readonly vscode.QuickPickItem[])[] {
  const offered: (readonly vscode.QuickPickItem[])[] = [];
  answer({
    showQuickPick: (items: readonly vscode.QuickPickItem[]) => {
      const wanted = labels[offered.push(items) - 1];
      return Array.isArray(wanted)
        ? items.filter(({ label }) => wanted.includes(label))
        : items.find(({ label }) => label === wanted);
    },
  });
  return offered;
}

/** VS Code renders this text as a link or command (`linkedText.ts`). */
export const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

/** Records messages, and answers them. */
export function watchMessages(press: Press = () => undefined): MessageWatch {
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

/** Records and blocks the calls of one VS Code command; other commands run. */
export function recordCommand(recorded: string): { readonly calls: readonly unknown[][] } {
  const { executeCommand } = vscode.commands;
  const calls: unknown[][] = [];
  replace(vscode.commands, {
    executeCommand: (command: string, ...args: unknown[]) =>
      command === recorded ? Promise.resolve(void calls.push(args)) : executeCommand(command, ...args),
  });
  return { calls };
}

function isOptions(value: unknown): value is vscode.MessageOptions {
  return typeof value === 'object' && value !== null && !('title' in value);
}
