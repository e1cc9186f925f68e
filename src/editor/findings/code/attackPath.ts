import * as vscode from 'vscode';
import { asUnknown } from '../../../core/errors.ts';
import { attackPathOf, type Location } from '../../../core/findings/finding.ts';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import { localLocationOf, type ShownFinding } from '../../../core/findings/shownFinding.ts';
import { addressOf } from '../../../core/findings/view/findingMarkdown.ts';
import { clip, visibleLine } from '../../../core/visibleText.ts';
import { answerOf } from '../../../core/yieldingWork.ts';
import { openDocument } from '../../folders.ts';
import { roleLabel, locationStateLabel, titleOfFinding } from '../../findingLabels.ts';
import { compact } from '../../formats.ts';
import { showInformation } from '../../showMessage.ts';

const t = vscode.l10n.t;

const maxLabelLength = 200;

/** `references-view.d.ts` of VS Code declares these types of its References view. */
interface SymbolTreeInput {
  /** Becomes the value of the context key `reference-list.source`. */
  readonly contextValue: string;
  readonly title: string;
  /** Must be on text, or else the view clears itself. */
  readonly location: vscode.Location;
  resolve(): Promise<SymbolTreeModel>;
  with(location: vscode.Location): SymbolTreeInput;
}

interface SymbolTreeModel {
  readonly provider: vscode.TreeDataProvider<Step>;
  readonly message: string | undefined;
  readonly navigation: {
    nearest(uri: vscode.Uri, position: vscode.Position): Step | undefined;
    next(from: Step): Step;
    previous(from: Step): Step;
    location(step: Step): vscode.Location | undefined;
  };
}

interface Step {
  readonly label: string;
  readonly description: string;
  readonly location: vscode.Location | undefined;
}

/**
 * Shows the steps in the References view, where F4 visits them. If the view is missing, or no step
 * can be opened, shows a quick pick.
 */
export async function showAttackPath(shown: ShownFinding, findings: FindingStore): Promise<void> {
  if (attackPathOf(shown.finding).length < 2) {
    void showInformation(t('This finding has only one location, so there is no attack path to show.'));
    return;
  }
  const current = (): ShownFinding => findings.find(shown.run.id, shown.name) ?? shown;
  const steps = await toSteps(shown, findings);
  const start = steps.find(({ location }) => location !== undefined)?.location;
  const view = await referencesView();
  if (view === undefined || start === undefined) return pickStep(shown, steps);
  const inputAt = (location: vscode.Location): SymbolTreeInput => ({
    contextValue: 'whitebox.attackPath',
    title: t('Attack Path'),
    location,
    resolve: async () => toModel(titleOfFinding(shown.finding), await toSteps(current(), findings)),
    with: inputAt,
  });
  // While no row is selected, F4 continues from the cursor, so the cursor is put on a step.
  await vscode.window.showTextDocument(await openDocument(start.uri), {
    selection: start.range,
    preview: true,
  });
  view.setInput(inputAt(start));
}

async function referencesView(): Promise<{ setInput(input: SymbolTreeInput): void } | undefined> {
  type View = Awaited<ReturnType<typeof referencesView>>;
  const extension = vscode.extensions.getExtension<View>('vscode.references-view');
  return extension && answerOf(extension.activate(), extension.id).catch(asUnknown);
}

async function pickStep({ finding }: ShownFinding, steps: readonly Step[]): Promise<void> {
  const title = t('Attack Path of {0}', titleOfFinding(finding));
  // VS Code would show `$(name)` as an icon.
  const plain = (text: string): string => text.replaceAll('$(', '$\u2060(');
  const items = steps.map(({ label, description, location }) => ({
    label: plain(label),
    description: plain(description),
    location,
  }));
  const picked = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
  if (picked?.location === undefined) return;
  const { uri, range } = picked.location;
  await vscode.window.showTextDocument(await openDocument(uri), { selection: range });
}

async function toSteps(shown: ShownFinding, findings: FindingStore): Promise<readonly Step[]> {
  const [{ details }] = await findings.withDetails([shown]);
  const { locations } = shown.finding;
  const all = [...locations, ...details.locations.slice(locations.length)];
  const steps: Step[] = [];
  for (const [at, location] of attackPathOf({ locations: all }).entries())
    steps.push(await toStep(location, `${String(at + 1)}. `, shown));
  return steps;
}

/** Texts are untrusted, but a tree and a quick pick show them as plain text. */
async function toStep(location: Location, number: string, shown: ShownFinding): Promise<Step> {
  const here = localLocationOf(location, shown);
  const line = here?.drift === 'gone' ? undefined : here?.startLine;
  const role = location.role && roleLabel(location.role);
  const label = clip(visibleLine(location.label ?? ''), maxLabelLength);
  const what = compact(role, label).join(': ');
  return {
    label: `${number}${what === '' ? visibleLine((here ?? location).path) : what}`,
    description: compact(addressOf(location, shown), locationStateLabel(location, shown)).join(' · '),
    location: here === undefined || line === undefined ? undefined : await locationIn(here.file, line),
  };
}

/** The References view rejects a location on white space. */
async function locationIn(file: string, line: number): Promise<vscode.Location | undefined> {
  const uri = vscode.Uri.file(file);
  try {
    const document = await openDocument(uri);
    const { isEmptyOrWhitespace, firstNonWhitespaceCharacterIndex, lineNumber } = document.lineAt(line - 1);
    if (isEmptyOrWhitespace) return undefined;
    return new vscode.Location(uri, new vscode.Position(lineNumber, firstNonWhitespaceCharacterIndex));
  } catch {
    // The file can't be opened or is shorter now. The step is listed without navigation.
    return undefined;
  }
}

function toModel(message: string, steps: readonly Step[]): SymbolTreeModel {
  const hasLocation = ({ location }: Step): boolean => location !== undefined;
  const othersFrom = (step: Step): readonly Step[] => {
    const index = steps.indexOf(step);
    return [...steps.slice(index + 1), ...steps.slice(0, index)];
  };
  return {
    message,
    provider: {
      getChildren: (step) => (step === undefined ? [...steps] : []),
      // The view needs `getParent` to reveal steps.
      getParent: () => undefined,
      getTreeItem: toItem,
    },
    navigation: {
      nearest: (uri, { line }) => nearest(steps, uri, line) ?? steps.find(hasLocation),
      next: (step) => othersFrom(step).find(hasLocation) ?? step,
      previous: (step) => othersFrom(step).findLast(hasLocation) ?? step,
      location: ({ location }) => location,
    },
  };
}

function nearest(steps: readonly Step[], uri: vscode.Uri, line: number): Step | undefined {
  const distance = ({ location }: Step): number => Math.abs((location?.range.start.line ?? 0) - line);
  const inFile = steps.filter(({ location }) => location?.uri.toString() === uri.toString());
  return inFile.toSorted((a, b) => distance(a) - distance(b))[0];
}

function toItem({ label, description, location }: Step): vscode.TreeItem {
  const item = new vscode.TreeItem(label);
  item.description = description;
  item.tooltip = `${label}\n${description}`;
  item.accessibilityInformation = { label: `${label}, ${description}` };
  item.iconPath = new vscode.ThemeIcon(location === undefined ? 'circle-slash' : 'arrow-small-right');
  if (location !== undefined)
    item.command = {
      title: t('Show in Editor'),
      command: 'vscode.open',
      arguments: [location.uri, { selection: location.range, preserveFocus: true }],
    };
  return item;
}
