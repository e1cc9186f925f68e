import * as vscode from 'vscode';

/** A tree view whose data provider is loaded when the view is first shown. */
export interface LazyView<Node> {
  readonly view: vscode.TreeView<Node>;
  fill(provider: vscode.TreeDataProvider<Node>): void;
}

/** More rows on one level would take seconds to show. */
export const maxRows = 2_000;

/** A row's checkbox; screen readers hear the name of what it is for. */
export function toCheckbox(isChecked: boolean, name: string, tooltip: string) {
  const { Checked, Unchecked } = vscode.TreeItemCheckboxState;
  const accessibilityInformation = { label: `${name}: ${tooltip}` };
  return { state: isChecked ? Checked : Unchecked, tooltip, accessibilityInformation };
}

/** Brings a view to the front, also where only the Upload Preview is visible. */
export async function focusView(view: 'runs' | 'findings' | 'features'): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'whitebox.choosingFiles', false);
  await vscode.commands.executeCommand(`whitebox.${view}.focus`);
}

/** An empty view; `load`, which has to fill it, is called when its children are first asked for. */
export function lazyView<Node>(id: string, load: () => Promise<unknown>): LazyView<Node> {
  const changed = new vscode.EventEmitter<Node | Node[] | undefined>();
  let filled: vscode.TreeDataProvider<Node> | undefined;
  const view = vscode.window.createTreeView<Node>(id, {
    showCollapseAll: true,
    canSelectMany: true,
    // The checkboxes show what would be uploaded or assessed, which does not follow from the parent's checkbox.
    manageCheckboxStateManually: true,
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getTreeItem: (element) => filled?.getTreeItem(element) ?? new vscode.TreeItem(''),
      getChildren: async (element) => {
        if (filled === undefined) await load();
        return filled?.getChildren(element);
      },
    },
  });
  return {
    view,
    fill: (provider) => {
      filled = provider;
      provider.onDidChangeTreeData?.((element) => {
        changed.fire(element ?? undefined);
      });
      changed.fire(undefined);
    },
  };
}
