import { join } from 'node:path';
import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import { toVisibleJson } from '../../core/visibleText.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { Run } from '../../core/run/state/run.ts';
import { hasArtifact } from '../labels.ts';
import { pickRun } from '../runs/pickRun.ts';
import { findInRun } from './findingArguments.ts';

const scheme = 'whitebox-finding';

interface Stores {
  readonly findings: FindingStore;
  readonly runs: RunStore;
}

/** Provides single findings as the service sent them, as read-only documents, also of runs that are not shown any more. */
export function provideFindingJson({ findings, runs }: Stores): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: async ({ path }) => {
      const [, runId = '', index] = path.split('/');
      const run = runs.get(runId);
      const shown = run === undefined ? undefined : await findInRun(run, Number(index), findings);
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

/** Opens a finding as the service sent it. */
export async function showFindingJson({ run, finding }: ShownFinding): Promise<void> {
  const name = `${finding.id.replaceAll(/[/\\]/g, '_')}.json`;
  const uri = vscode.Uri.from({ scheme, path: `/${run.id}/${String(finding.index)}/${name}` });
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.languages.setTextDocumentLanguage(document, 'json');
  await vscode.window.showTextDocument(document, { preview: true });
}

/** Opens the findings file of a run as it was downloaded. */
export async function openFindingsFile(run: Run, runs: RunStore): Promise<void> {
  const file = vscode.Uri.file(join(runs.folderOf(run.id), 'findings.json'));
  await vscode.commands.executeCommand('vscode.open', file);
}

/** The shown run whose findings cannot be read, else one with findings that a person picks. */
export function pickUnreadRun({ runs, findings }: Stores): Promise<Run | undefined> {
  const unread = findings.folders().flatMap(({ run, failure }) => (failure === undefined ? [] : [run]));
  const all = runs.all().filter((run) => hasArtifact(run, 'findings'));
  return pickRun(unread.length > 0 ? unread : all, vscode.l10n.t('Open Findings File'));
}
