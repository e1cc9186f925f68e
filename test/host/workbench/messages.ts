import type { Page } from '@playwright/test';
import { eventually, patienceMs, readWithin } from './eventually.ts';
import type { PageElement } from './pageElement.ts';

export interface NotificationReading {
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  /** The extension's name, where it is shown. */
  readonly source: string;
  readonly buttons: readonly string[];
}

export interface DialogReading {
  readonly message: string;
  readonly detail: string;
  readonly buttons: readonly string[];
}

export function messagesOf(page: Page, runCommand: (title: string) => Promise<void>) {
  const dialog = page.locator('.monaco-dialog-box');
  const center = page.locator('.notifications-center.visible');
  let isOpenedEmpty = false;
  const bell = page.locator('[id="status.notifications"] .statusbar-item-label');
  const items = page.locator(
    ':is(.notifications-toasts, .notifications-center).visible .notification-list-item',
  );

  /** Toasts disappear after some seconds; the notification centre still has them and stays open. */
  const find = async (text: string | RegExp, timeoutMs: number): Promise<NotificationReading> => {
    const read = async (): Promise<NotificationReading | undefined> =>
      (await items.evaluateAll(readNotifications)).find(({ message }) =>
        typeof text === 'string' ? message.includes(text) : text.test(message),
      );
    const found = await readWithin(timeoutMs, async () => {
      await closeCenter();
      const asToast = await readWithin(3000, read);
      if (asToast !== undefined) return asToast;
      await openCenter();
      return readWithin(500, read);
    });
    if (found !== undefined) return found;
    const shown = (await items.evaluateAll(readNotifications)).map(({ message }) => message);
    throw new Error(`No notification says "${String(text)}". These do: ${shown.join(' | ')}`);
  };
  // Not by the palette: the centre closes with its last notification, and the close command is then disabled.
  const openCenter = async (): Promise<void> => {
    if (await center.isVisible()) return;
    // Read before: a notification may come while the centre opens.
    isOpenedEmpty = (await bell.locator('.codicon-bell-dot').count()) === 0;
    // A dispatched event, since the tooltip of the bell would receive the click.
    await bell.dispatchEvent('click');
    await center.waitFor();
  };
  const closeCenter = async (): Promise<void> => {
    // Opened without a new notification, VS Code takes its list for hidden and does not empty it when the centre is closed: what came
    // meanwhile would be listed twice from then on. Showing the open centre puts that right.
    if (isOpenedEmpty && (await center.isVisible())) await runCommand('Notifications: Show Notifications');
    isOpenedEmpty = false;
    await pressInCenter('Hide Notifications');
  };
  const pressInCenter = async (action: string): Promise<void> => {
    await eventually(
      async () => {
        if (await center.isVisible())
          await center
            .locator(`.notifications-center-header-toolbar .action-label[aria-label^="${action}"]`)
            .click({ timeout: 1000 })
            .catch(() => undefined);
        return center.isVisible();
      },
      (isVisible) => !isVisible,
    );
  };

  return {
    /** Waits for a notification that contains this text, and reads it. */
    notification: async (text: string | RegExp, timeoutMs = patienceMs): Promise<NotificationReading> => {
      const reading = await find(text, timeoutMs);
      await closeCenter();
      return reading;
    },

    /** Presses a button of the notification that contains this text. */
    notificationButton: async (text: string | RegExp, button: string): Promise<void> => {
      await find(text, patienceMs);
      const buttons = items
        .filter({ hasText: text })
        .first()
        .locator('.notification-list-item-buttons-container');
      await buttons.getByText(button, { exact: true }).click();
      await closeCenter();
    },

    notifications: async (): Promise<readonly NotificationReading[]> => {
      await openCenter();
      const readings = await center.locator('.notification-list-item').evaluateAll(readNotifications);
      await closeCenter();
      return readings;
    },

    dismissNotifications: async (): Promise<void> => {
      await openCenter();
      if ((await items.count()) > 0) await pressInCenter('Clear All Notifications');
      await closeCenter();
      await page.locator('.notification-toast').first().waitFor({ state: 'hidden' });
    },

    dialogText: async (): Promise<DialogReading> => {
      await dialog.waitFor();
      return {
        message: await dialog.locator('.dialog-message-text').innerText(),
        detail: (await dialog.locator('.dialog-message-detail').allInnerTexts()).join('\n'),
        buttons: await dialog.locator('.dialog-buttons .monaco-button').allInnerTexts(),
      };
    },

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
