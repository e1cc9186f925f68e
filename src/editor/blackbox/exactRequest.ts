import * as vscode from 'vscode';
import type { Disposable } from '../../core/ports.ts';
import type { Assessment } from '../../core/run/state/newRun.ts';
import { toVisibleJson } from '../../core/visibleText.ts';
import type { ApplicationInput } from '../../core/workflows/application.ts';
import { workflows } from '../../core/workflows/workflows.ts';
import { showInformation } from '../showMessage.ts';

/** A blackbox run that a person is asked about: exactly what is sent, passwords apart. */
export type BlackboxPlan = Assessment & { readonly input: ApplicationInput };

const scheme = 'whitebox-request';

/** Opens what a question has no room for as read-only documents. */
export interface RequestDocuments extends Disposable {
  /** Opens the dispatch body of a run with its passwords hidden. */
  show(plan: BlackboxPlan): Promise<void>;
  /** Opens all that changed between two requests. */
  showChanges(text: string): Promise<void>;
  /** True when these were the last changes that were opened. */
  hasShown(changes: string): boolean;
}

/** Provides the documents of requests and changes; the last one is kept. */
export function provideRequests(): RequestDocuments {
  let shown = { number: 0, text: '' };
  let lastChanges: string | undefined;
  const provider = vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: ({ path }) =>
      path.startsWith(`/${String(shown.number)}/`) ? shown.text : undefined,
  });
  const open = async (name: string, text: string): Promise<vscode.TextDocument> => {
    shown = { number: shown.number + 1, text };
    const uri = vscode.Uri.from({ scheme, path: `/${String(shown.number)}/${name}` });
    return vscode.workspace.openTextDocument(uri);
  };
  return {
    async show(plan) {
      const passwords = (plan.input.authentication?.credentials ?? []).map(() => '••••');
      const body = workflows[plan.workflow].toRequest({ ...plan, targets: [] }, passwords);
      const text = `${toVisibleJson(JSON.stringify(body)) ?? ''}\n`;
      const document = await open(`${plan.workflow}.json`, text);
      await vscode.languages.setTextDocumentLanguage(document, 'json');
      await vscode.window.showTextDocument(document);
    },
    async showChanges(text) {
      await vscode.window.showTextDocument(await open('changes.txt', text));
      lastChanges = text;
    },
    hasShown: (changes) => changes === lastChanges,
    dispose: () => {
      provider.dispose();
    },
  };
}

/** Offers to ask again once a person has read a document that was opened instead of an answer. */
export async function reopenAfterReading<T>(
  message: string,
  reopen: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const button = vscode.l10n.t('Reopen Confirmation…');
  return (await showInformation(message, button)) === button ? reopen() : undefined;
}
