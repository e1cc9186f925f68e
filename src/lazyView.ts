import * as vscode from 'vscode';

/** A tree view that asks for its data provider when it is first looked at. */
export interface LazyView {
  readonly view: vscode.TreeView<unknown>;
  /** Puts the data provider in place. */
  fill(provider: vscode.TreeDataProvider<unknown>): void;
}

/** Brings a view to the front, also while the Upload Preview is all that is shown. */
export async function focusView(view: 'runs' | 'findings'): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'whitebox.choosingFiles', false);
  await vscode.commands.executeCommand(`whitebox.${view}.focus`);
}

/** An empty view with this id; `load` is awaited before its first children are asked for, and is to fill it. */
export function lazyView(id: string, load: () => Promise<unknown>): LazyView {
  const changed = new vscode.EventEmitter<unknown>();
  let filled: vscode.TreeDataProvider<unknown> | undefined;
  const view = vscode.window.createTreeView<unknown>(id, {
    showCollapseAll: true,
    canSelectMany: true,
    // A box says what would be sent, which a folder's own box alone does not decide.
    manageCheckboxStateManually: true,
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getTreeItem: (element) => filled?.getTreeItem(element) ?? (element as vscode.TreeItem),
      getChildren: async (element) => {
        if (filled === undefined) await load();
        return filled?.getChildren(element);
      },
      getParent: (element) => filled?.getParent?.(element),
      resolveTreeItem: (item, element, token) => filled?.resolveTreeItem?.(item, element, token) ?? item,
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
