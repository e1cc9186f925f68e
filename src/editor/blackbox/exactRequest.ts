import * as vscode from 'vscode';
import type { Assessment } from '../../core/run/state/newRun.ts';
import { toVisibleJson } from '../../core/visibleText.ts';
import type { ApplicationInput } from '../../core/workflows/blackboxInput.ts';
import { workflows } from '../../core/workflows/workflows.ts';
import { openDocument } from '../folders.ts';

/** Exactly what a start sends, passwords apart. */
export type BlackboxPlan = Assessment & { readonly input: ApplicationInput };

export type RequestDocuments = ReturnType<typeof provideRequests>;

const scheme = 'whitebox-request';

/** A read-only document of a request. Only the latest one has content. */
export function provideRequests() {
  let latest = { path: '', text: '' };
  const provider = vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: ({ path }) => (path === latest.path ? latest.text : undefined),
  });
  let count = 0;
  return {
    /** Opens the dispatch body of a run with its passwords hidden. */
    async show(plan: BlackboxPlan): Promise<void> {
      const passwords = (plan.input.authentication?.credentials ?? []).map(() => '••••');
      const body = workflows[plan.workflow].toRequest({ ...plan, targets: [] }, passwords);
      const path = `/${String(++count)}/${plan.workflow}.json`;
      latest = { path, text: `${toVisibleJson(JSON.stringify(body)) ?? ''}\n` };
      await vscode.window.showTextDocument(await openDocument(vscode.Uri.from({ scheme, path })));
    },
    dispose: () => void provider.dispose(),
  };
}
