import * as vscode from 'vscode';
import type { Assessment } from '../../core/run/state/newRun.ts';
import { toVisibleJson } from '../../core/visibleText.ts';
import type { ApplicationInput } from '../../core/workflows/blackboxInput.ts';
import { workflows } from '../../core/workflows/workflows.ts';
import { openDocument } from '../folders.ts';
import { showInformation } from '../showMessage.ts';

const t = vscode.l10n.t;

export type BlackboxPlan = Assessment & { readonly input: ApplicationInput };

export type RequestDocuments = ReturnType<typeof provideRequests>;

const scheme = 'whitebox-request';

/** Only the latest text is kept, so VS Code can't reopen an older document. */
export function provideRequests() {
  let latest = { path: '', text: '' };
  let lastChanges: string | undefined;
  const provider = vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: ({ path }) => (path === latest.path ? latest.text : undefined),
  });
  let count = 0;
  const show = async (name: string, text: string): Promise<void> => {
    latest = { path: `/${String(++count)}/${name}`, text };
    await vscode.window.showTextDocument(await openDocument(vscode.Uri.from({ scheme, path: latest.path })));
  };
  return {
    async show(plan: BlackboxPlan): Promise<void> {
      const passwords = (plan.input.authentication?.credentials ?? []).map(() => '••••');
      const body = workflows[plan.workflow].toRequest({ ...plan, targets: [] }, passwords);
      await show(`${plan.workflow}.json`, `${toVisibleJson(JSON.stringify(body)) ?? ''}\n`);
    },
    async showChanges(changes: string): Promise<void> {
      await show('changes.txt', changes);
      lastChanges = changes;
    },
    hasShown: (changes: string): boolean => changes === lastChanges,
    dispose: () => void provider.dispose(),
  };
}

export type Reading = 'readingRequest' | 'readingChanges';

export async function isReopened(reading: Reading): Promise<boolean> {
  const message =
    reading === 'readingRequest'
      ? t('Nothing has been sent. After you’ve read the request, reopen the confirmation to start.')
      : t('Nothing has been sent. After you’ve read the changes, reopen the confirmation to continue.');
  const button = t('Reopen Confirmation…');
  return (await showInformation(message, button)) === button;
}
