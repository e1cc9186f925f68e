import type { Locator, Page } from 'playwright-core';
import { eventually } from './eventually.ts';
import type { PageElement } from './pageElement.ts';

/** A notification as it is shown. */
export interface NotificationReading {
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  /** The extension's name, where it is shown. */
  readonly source: string;
  readonly buttons: readonly string[];
}

/** A modal dialog as it is shown. */
export interface DialogReading {
  readonly message: string;
  readonly detail: string;
  readonly buttons: readonly string[];
}

/** Notifications and modal dialogs of a workbench page. */
export function messagesOf(page: Page, runCommand: (title: string) => Promise<void>) {
  const dialog = page.locator('.monaco-dialog-box');
  const center = page.locator('.notifications-center.visible');
  const itemsIn = (place: Locator, text: string | RegExp): Locator =>
    place.locator('.notification-list-item').filter({ hasText: text });
  const toast = (text: string | RegExp): Locator =>
    itemsIn(page.locator('.notifications-toasts.visible'), text).first();

  /** Toasts go after some seconds; the notification centre still has them. */
  const locate = (text: string | RegExp, timeoutMs: number): Promise<Locator> =>
    eventually(
      async () => {
        const asToast = toast(text);
        if (
          await asToast.waitFor({ timeout: 2000 }).then(
            () => true,
            () => false,
          )
        )
          return asToast;
        await openCenter();
        const inCenter = itemsIn(center, text).first();
        if ((await inCenter.count()) > 0) return inCenter;
        await closeCenter();
        return undefined;
      },
      (found) => found !== undefined,
      timeoutMs,
    ).then((found) => found!);
  const openCenter = async (): Promise<void> => {
    if (!(await center.isVisible())) await runCommand('Notifications: Show Notifications');
    await center.waitFor();
  };
  const closeCenter = async (): Promise<void> => {
    if (await center.isVisible()) await runCommand('Notifications: Hide Notifications');
    await center.waitFor({ state: 'hidden' });
  };

  return {
    /** Waits for a notification that contains this text, and reads it. */
    notification: async (text: string | RegExp, timeoutMs = 20_000): Promise<NotificationReading> => {
      const [reading] = await (await locate(text, timeoutMs)).evaluateAll(readNotifications);
      await closeCenter();
      if (reading === undefined) throw new Error('The notification went away while it was read.');
      return reading;
    },

    /** Presses a button of the notification that contains this text. */
    notificationButton: async (text: string | RegExp, button: string): Promise<void> => {
      const item = await locate(text, 20_000);
      await item
        .locator('.notification-list-item-buttons-container')
        .getByText(button, { exact: true })
        .click();
      await closeCenter();
    },

    /** Every notification that has not been dismissed, the newest first. */
    notifications: async (): Promise<readonly NotificationReading[]> => {
      await openCenter();
      const readings = await center.locator('.notification-list-item').evaluateAll(readNotifications);
      await closeCenter();
      return readings;
    },

    /** Dismisses every notification. */
    dismissNotifications: async (): Promise<void> => {
      await runCommand('Notifications: Clear All Notifications');
      await page.locator('.notification-toast').first().waitFor({ state: 'hidden' });
    },

    /** Waits for a modal dialog and reads it. */
    dialogText: async (): Promise<DialogReading> => {
      await dialog.waitFor();
      return {
        message: await dialog.locator('.dialog-message-text').innerText(),
        detail: (await dialog.locator('.dialog-message-detail').allInnerTexts()).join('\n'),
        buttons: await dialog.locator('.dialog-buttons .monaco-button').allInnerTexts(),
      };
    },

    /** Presses a button of the modal dialog and waits until that dialog is gone. */
    dialogButton: async (name: string): Promise<void> => {
      const shown = await dialog.elementHandle();
      await dialog.locator('.dialog-buttons').getByText(name, { exact: true }).click();
      await shown.waitForElementState('hidden');
    },
  };
}

function readNotifications(items: PageElement[]): NotificationReading[] {
  return items.map((item) => {
    const text = (selector: string): string => (item.querySelector(selector)?.textContent ?? '').trim();
    const severity = (['error', 'warning'] as const).find(
      (name) => item.querySelector(`.codicon-${name}`) !== null,
    );
    const buttons = item.querySelectorAll('.notification-list-item-buttons-container .monaco-button');
    return {
      severity: severity ?? 'info',
      message: text('.notification-list-item-message'),
      source: text('.notification-list-item-source'),
      buttons: [...buttons].map((button) => (button.textContent ?? '').trim()),
    };
  });
}
