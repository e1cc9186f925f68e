import * as vscode from 'vscode';

/** A tree view whose data provider is loaded when the view is first shown. */
export interface LazyView {
  readonly view: vscode.TreeView<unknown>;
  fill(provider: vscode.TreeDataProvider<unknown>): void;
}

/** What the bootstrap registers before the main part is loaded: an idle status item and empty views. */
export interface Surfaces {
  readonly status: vscode.StatusBarItem;
  readonly runs: LazyView;
  readonly findings: LazyView;
  readonly uploadPreview: LazyView;
  readonly features: LazyView;
}

/** Brings a view to the front, also where only the Upload Preview is visible. */
export async function focusView(view: 'runs' | 'findings' | 'features'): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'whitebox.choosingFiles', false);
  await vscode.commands.executeCommand(`whitebox.${view}.focus`);
}

/** An empty view; `load`, which has to fill it, is called when its children are first asked for. */
export function lazyView(id: string, load: () => Promise<unknown>): LazyView {
  const changed = new vscode.EventEmitter<unknown>();
  let filled: vscode.TreeDataProvider<unknown> | undefined;
  const view = vscode.window.createTreeView<unknown>(id, {
    showCollapseAll: true,
    canSelectMany: true,
    // The checkboxes show what would be uploaded or assessed, which does not follow from the parent's checkbox.
    manageCheckboxStateManually: true,
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getTreeItem: (element) => filled?.getTreeItem(element) ?? (element as vscode.TreeItem),
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
        changed.fire(element);
      });
      changed.fire(undefined);
    },
  };
}
