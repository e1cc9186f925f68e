import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { AssessmentError } from '../../core/errors.ts';
import { decisionFolders, lacksMainLocation, type ShownFinding } from '../../core/findings/shownFinding.ts';
import { type MappingPlan, planMapping } from '../../core/findings/location/mappings.ts';
import { pathInside } from '../../core/paths.ts';
import { isInside } from '../folders.ts';
import { countFindings } from '../formats.ts';
import { withProgress } from '../progress.ts';
import { showInformation, showWarning } from '../showMessage.ts';

const t = vscode.l10n.t;

export async function mapFindingPaths(findings: FindingStore): Promise<void> {
  const targets = findings.shownRuns().flatMap(({ run }) => run.targets);
  const folders = [...new Set(targets.map(({ folder }) => folder))];
  const mapped = folders.filter((folder) => findings.hasMappings(folder));
  const withoutLocation = findings.all().filter(lacksMainLocation);
  const pick = t('Choose a Folder…');
  const clear = t('Clear Path Mappings');
  if (withoutLocation.length === 0 && mapped.length === 0) {
    void showInformation(t('Every finding that names a file already has a location.'));
    return;
  }
  const choice =
    mapped.length === 0
      ? pick
      : await vscode.window.showQuickPick(withoutLocation.length === 0 ? [clear] : [pick, clear]);
  if (choice === clear) for (const folder of mapped) await findings.forgetMappings(folder);
  else if (choice === pick) await chooseBaseFolder(withoutLocation, folders, findings);
}

async function chooseBaseFolder(
  withoutLocation: readonly ShownFinding[],
  folders: readonly string[],
  findings: FindingStore,
): Promise<void> {
  const [start] = folders;
  const [chosen] =
    (await vscode.window.showOpenDialog({
      title: t('Base Folder for the Paths of {0}', countFindings(withoutLocation.length)),
      openLabel: t('Choose'),
      canSelectFiles: false,
      canSelectFolders: true,
      ...(start === undefined ? {} : { defaultUri: vscode.Uri.file(start) }),
    })) ?? [];
  if (chosen === undefined) return;
  const root = folders.find((folder) => isInside(chosen, vscode.Uri.file(folder)));
  const to = root === undefined ? undefined : pathInside(root, chosen.fsPath);
  if (root === undefined || to === undefined)
    throw new AssessmentError('outsideFolder', { subject: chosen.fsPath });
  const inRoot = withoutLocation.filter((shown) => decisionFolders(shown).includes(root));
  const paths = inRoot.flatMap(({ finding }) => finding.locations.slice(0, 1).map(({ path }) => path));
  const plan = await withProgress(t('Looking for the findings’ files…'), (_report, signal) =>
    planMapping(paths, { root, to, signal }),
  );
  if (plan === undefined) {
    void showWarning(t('None of the findings’ files are in {0}.', to === '' ? root : to));
    return;
  }
  if (await agrees(plan, inRoot.length, to === '' ? basename(root) : to))
    await findings.mapPaths(root, plan.prefix, chosen.fsPath);
}

async function agrees({ prefix, located }: MappingPlan, of: number, where: string): Promise<boolean> {
  const yes = t('Map Paths');
  const detail =
    prefix === ''
      ? t('Paths are looked up in “{0}”.', where)
      : t('Paths that start with “{0}” are looked up in “{1}”.', prefix, where);
  const question = t('This finds locations for {0} of {1}.', located, countFindings(of));
  return (await showInformation([question, detail].join(' '), yes)) === yes;
}
