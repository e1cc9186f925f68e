import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import { toVisibleJson } from '../../core/findings/view/rawJson.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';

const scheme = 'whitebox-finding';

/** Provides findings as the service told them, as documents that cannot be changed, also of runs that are not shown any more. */
export function provideFindingJson(deps: { findings: FindingStore; runs: RunStore }): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: async ({ path }) => {
      const [, runId = '', index] = path.split('/');
      const shown = deps.findings.find(runId, Number(index)) ?? (await stored(deps, runId, Number(index)));
      if (shown === undefined) return undefined;
      const { raw } = shown.finding;
      const json = raw === undefined ? undefined : toVisibleJson(raw);
      const why = vscode.l10n.t(
        'This finding is too long, or nested too deeply, to be shown by itself. Open Findings File on its run shows it in its file.',
      );
      return `${json ?? `// ${why}`}\n`;
    },
  });
}

/** Opens a finding as the service told it. */
export async function showFindingJson({ run, finding }: ShownFinding): Promise<void> {
  const name = `${finding.id.replaceAll(/[/\\]/g, '_')}.json`;
  const uri = vscode.Uri.from({ scheme, path: `/${run.id}/${String(finding.index)}/${name}` });
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.languages.setTextDocumentLanguage(document, 'json');
  await vscode.window.showTextDocument(document, { preview: true });
}

async function stored(
  { findings, runs }: { findings: FindingStore; runs: RunStore },
  runId: string,
  index: number,
): Promise<ShownFinding | undefined> {
  const run = runs.get(runId);
  const shown = run === undefined ? [] : (await findings.read(run)).shown;
  return shown.find(({ finding }) => finding.index === index);
}
