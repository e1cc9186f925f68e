import * as vscode from 'vscode';

export interface LazyView<Node> {
  readonly view: vscode.TreeView<Node>;
  fill(provider: vscode.TreeDataProvider<Node>): void;
}

/** The limit for one level of a tree. More rows take seconds to show. */
export const maxRows = 2_000;

/** Screen readers need `name`. */
export function toCheckbox(isChecked: boolean, name: string, tooltip: string) {
  const { Checked, Unchecked } = vscode.TreeItemCheckboxState;
  const accessibilityInformation = { label: `${name}: ${tooltip}` };
  return { state: isChecked ? Checked : Unchecked, tooltip, accessibilityInformation };
}

export async function focusView(view: 'runs' | 'findings' | 'features'): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'whitebox.choosingFiles', false);
  await vscode.commands.executeCommand(`whitebox.${view}.focus`);
}

/** Calls `load`, which must fill the view, when the view's children are first requested. */
export function lazyView<Node>(id: string, load: () => Promise<unknown>): LazyView<Node> {
  const changed = new vscode.EventEmitter<Node | Node[] | undefined>();
  let filled: vscode.TreeDataProvider<Node> | undefined;
  let isRead = false;
  const view = vscode.window.createTreeView<Node>(id, {
    showCollapseAll: true,
    canSelectMany: true,
    // The providers, not VS Code, decide which checkboxes are checked.
    manageCheckboxStateManually: true,
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getTreeItem: (element) => filled?.getTreeItem(element) ?? new vscode.TreeItem(''),
      getChildren: async (element) => {
        // If a refresh reaches VS Code during its first read, VS Code shows rows twice, and only
        // the first group with its children. A refresh that replaces the first read avoids this.
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
