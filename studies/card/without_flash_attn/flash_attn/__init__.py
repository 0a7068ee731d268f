"""The functions of flash-attn that OpenRLHF imports, where flash-attn is not installed: each raises if it is called.

OpenRLHF imports them even if it packs no sequences. The folder above is put on the path of its processes.
"""
