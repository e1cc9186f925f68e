import { basename } from 'node:path';
import * as vscode from 'vscode';
import { endedEarly, type Run } from '../../core/run/state/run.ts';
import { isSamePath, pathInside, realPath } from '../../core/paths.ts';
import { repositoryUri } from '../../core/findings/importExport/issueTracker.ts';
import {
  type AssessedRepository,
  chooseForUpload,
  codeScanningLimits,
  type Upload,
} from '../../core/findings/importExport/sarif/codeScanning.ts';
import { allNamesOf } from '../../core/findings/identity.ts';
import { folderOf, type ShownRun } from '../../core/findings/shownFinding.ts';
import { focusView } from '../../lazyView.ts';
import { repositoryOf } from '../folders.ts';
import { countFindings, countShown, firstLines, formatBytes, formatNumber } from '../formats.ts';
import { nameOf } from '../runs/runLabels.ts';
import { withProgress } from '../progress.ts';
import { askInDialog, showWarning } from '../showMessage.ts';
import { pickExportFile, type ExportDeps, offerToOpen, readToExport, saveExport } from './exportFile.ts';
import { readRun } from './findingArguments.ts';

const t = vscode.l10n.t;

interface UploadRepository extends AssessedRepository {
  /** Without a known Git repository, `root` is an assessed folder. */
  readonly isKnown: boolean;
}

export async function exportForCodeScanning(run: Run, deps: ExportDeps): Promise<void> {
  // During a comparison, the Findings view has the findings of only one earlier run, but GitHub's
  // alerts may be of any run. The comparison ends, so that view and export agree.
  if (deps.findings.comparison()?.run.id === run.id) await deps.findings.show(run);
  const source = await withProgress(t('Exporting findings…'), (_report, signal) =>
    readToExport(run, deps.findings, signal),
  );
  const upload = chooseForUpload(source);
  if (!(await agreesToClose(source, upload, deps))) return;
  const repositories = await repositoriesOf(run);
  const files: { readonly repository: UploadRepository; readonly to: vscode.Uri }[] = [];
  for (const repository of repositories) {
    const title =
      repositories.length === 1
        ? t('Export Findings for Code Scanning')
        : t('Export Findings for Code Scanning: {0}', basename(repository.root));
    const texts = { title, filter: 'SARIF' };
    const to = await pickExportFile(run, 'code-scanning.sarif', texts, repository.folders[0]?.folder);
    if (to === undefined) return;
    files.push({ repository, to });
  }
  const saved: { readonly message: string; readonly to: vscode.Uri }[] = [];
  const byRepository = Map.groupBy(
    upload.listed,
    (shown) =>
      repositories.find(({ folders }) => folders.some(({ folder }) => isSamePath(folder, folderOf(shown)))) ??
      repositories[0],
  );
  for (const { repository, to } of files) {
    const listed = byRepository.get(repository) ?? [];
    const form = { kind: 'codeScanning', listed, repository } as const;
    const gzippedBytes = await withProgress(t('Exporting findings…'), (_report, signal) =>
      saveExport(to, { source, form }, deps, signal),
    );
    warnOfLimits(basename(to.fsPath), listed.length, gzippedBytes ?? 0);
    const message = t('{0} saved to {1}.', countShown(listed.length, source.cut), basename(to.fsPath));
    const root = t(
      'VS Code found no Git repository for {0}, so paths start at that folder.',
      basename(repository.root),
    );
    saved.push({ message: repository.isKnown ? message : `${message} ${root}`, to });
  }
  await Promise.all(saved.map(({ message, to }) => offerToOpen(message, to, 'sarif')));
}

/** GitHub closes alerts that an upload doesn't list, although their findings may be unfixed. */
async function agreesToClose(source: ShownRun, upload: Upload, deps: ExportDeps): Promise<boolean> {
  const { run, unreadRuns = [] } = source;
  const reasons = incompleteReasons(source);
  const { closed } = upload;
  if (reasons.length + unreadRuns.length + closed.length === 0) return true;
  const unlisted = reasons.length === 0 ? undefined : await unlistedOf(source, upload, deps);
  const go = t('Export…');
  const review = t('Review Findings');
  const question =
    reasons.length > 0
      ? t('Export the findings of a run that may not have found everything?')
      : unreadRuns.length > 0
        ? t('Some earlier runs can’t be read. Export anyway?')
        : t('When you upload the file, GitHub closes the alerts of {0}.', countFindings(closed.length));
  const unread = unreadRuns.map((each) =>
    t('VS Code can’t read the findings of the earlier run “{0}”.', nameOf(each)),
  );
  const detail = [
    ...reasons,
    unread.length > 0 && firstLines(unread),
    closed.length > 0 &&
      t(
        'Findings with changed code, not reported by this run and not closed by triage: {0}.',
        countFindings(closed.length),
      ),
    t('If an upload doesn’t list an alert, GitHub closes the alert as fixed.'),
    unlisted &&
      t(
        'When you upload the file, GitHub also closes the alerts of {0} from the earlier run “{1}”, fixed or not.',
        countFindings(unlisted.count),
        nameOf(unlisted.run),
      ),
    closed.length > 0 &&
      t('To see the findings with changed code in the Findings view, choose “{0}”.', review),
  ];
  const choice = await askInDialog({ question, detail }, go, closed.length > 0 && review);
  if (choice === review) {
    await deps.findings.show(run);
    await deps.filtering.filterBy({ verdicts: ['codeChanged'] });
    await focusView('findings');
  }
  return choice === go;
}

function incompleteReasons({ run, cut }: ShownRun): readonly string[] {
  return [
    ...(endedEarly(run) ? [t('The run ended early.')] : []),
    ...(cut === undefined ? [] : [t('Only {0} can be exported.', countShown(cut.shown, cut))]),
    ...(run.input?.pairs === undefined ? [] : [t('The run tested only chosen pairs.')]),
  ];
}

async function unlistedOf({ run }: ShownRun, { listed }: Upload, { findings }: ExportDeps) {
  const baseline = findings.baselineOf(run);
  if (baseline === undefined) return undefined;
  const { shown, failure } = await readRun(baseline, findings);
  if (failure !== undefined) return undefined;
  const known = allNamesOf(listed);
  const { listed: earlier } = chooseForUpload({ run: baseline, shown });
  return { run: baseline, count: earlier.filter(({ name }) => !known.has(name)).length };
}

async function repositoriesOf({ targets }: Run): Promise<readonly UploadRepository[]> {
  const found = await Promise.all(
    targets.map(async (target) => {
      const repository = await repositoryOf(vscode.Uri.file(target.folder));
      const root = repository?.rootUri.fsPath ?? target.folder;
      const path = pathInside(root, target.folder) ?? (await realPathInside(root, target.folder));
      if (repository === undefined || path === undefined)
        return { target, root: target.folder, path: '', remote: undefined };
      const { remotes } = repository.state;
      const { fetchUrl = '' } = remotes.find(({ name }) => name === 'origin') ?? remotes[0] ?? {};
      return { target, root, path, remote: fetchUrl };
    }),
  );
  return [...Map.groupBy(found, ({ root }) => root)].map(([root, folders]) => ({
    root,
    folders: folders.map(({ target: { folder, name }, path }) => ({ folder, name, path })),
    isKnown: folders[0]?.remote !== undefined,
    uri: repositoryUri(folders[0]?.remote ?? ''),
    commit: folders.map(({ target }) => target.commit?.id).find((id) => id !== undefined),
  }));
}

async function realPathInside(root: string, folder: string): Promise<string | undefined> {
  try {
    return pathInside(await realPath(root), await realPath(folder));
  } catch {
    return undefined; // One of the folders is gone or can't be read.
  }
}

function warnOfLimits(name: string, results: number, gzippedBytes: number): void {
  const { gzippedBytes: maxBytes, shownResults } = codeScanningLimits;
  if (gzippedBytes > maxBytes)
    void showWarning(
      t(
        'GitHub rejects {0}. Its compressed size is {1}, and the limit is {2}.',
        name,
        formatBytes(gzippedBytes),
        formatBytes(maxBytes),
      ),
    );
  else if (results > shownResults)
    void showWarning(
      t(
        'GitHub shows only the {0} most severe of {1} in {2}.',
        formatNumber(shownResults),
        countFindings(results),
        name,
      ),
    );
}
