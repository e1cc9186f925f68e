import * as vscode from 'vscode';

/** A tree view that loads its data provider when it is first shown. */
export interface LazyView<Node> {
  readonly view: vscode.TreeView<Node>;
  fill(provider: vscode.TreeDataProvider<Node>): void;
}

/** For one level; more rows take seconds to show. */
export const maxRows = 2_000;

/** `name` is for screen readers. */
export function toCheckbox(isChecked: boolean, name: string, tooltip: string) {
  const { Checked, Unchecked } = vscode.TreeItemCheckboxState;
  const accessibilityInformation = { label: `${name}: ${tooltip}` };
  return { state: isChecked ? Checked : Unchecked, tooltip, accessibilityInformation };
}

/** Shows a view, even while the Upload Preview hides it. */
export async function focusView(view: 'runs' | 'findings' | 'features'): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'whitebox.choosingFiles', false);
  await vscode.commands.executeCommand(`whitebox.${view}.focus`);
}

/** `load` has to fill the view; it is called when the view's children are first requested. */
export function lazyView<Node>(id: string, load: () => Promise<unknown>): LazyView<Node> {
  const changed = new vscode.EventEmitter<Node | Node[] | undefined>();
  let filled: vscode.TreeDataProvider<Node> | undefined;
  let isRead = false;
  const view = vscode.window.createTreeView<Node>(id, {
    showCollapseAll: true,
    canSelectMany: true,
    // What would be uploaded or assessed does not follow from the parent's checkbox.
    manageCheckboxStateManually: true,
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getTreeItem: (element) => filled?.getTreeItem(element) ?? new vscode.TreeItem(''),
      getChildren: async (element) => {
        // A refresh that reaches VS Code during its first reading repeats the rows of that reading,
        // and shows only the first group with its children. A refresh after it, or one that
        // replaces it, shows all.
        if (element === undefined && !isRead) {
          isRead = true;
          changed.fire(undefined);
        }
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
